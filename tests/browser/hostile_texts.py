"""Texts of which a careless screen makes links, images, formulas, colors, icons, lists or code."""

TEXTS = (
    "![x](http://evil.example/x.png)",
    "[sign in again](http://evil.example/)",
    "https://evil.example/a?b=c#d",
    "HTTP://EVIL.example www.evil.example ada@evil.example xmpp:a@evil.example",
    "<img src=http://evil.example/x.png onerror=alert(1)> <http://evil.example>",
    "$\\frac{a}{b}$ and $$x$$ &lt;b&gt; &amp;",
    ":red[danger] :red-badge[x] :blue-background[y] :small[z] ::x:: :a:b:c:",
    ":material/lock: :smile: :streamlit: :+1:",
    "# head",
    "1. a",
    "- b",
    "    indented",
    "| a | b | [^1] [a][b] ~~c~~ ~d~ **e** _f_ `g`",
    "a -> b <- c -- d --- e >= f <= g ~= h <-> i",
    "-> a->b --",
    "ada@-evil.example a.b+c@evil.example, x@y.z; (www.evil.example) mailto:a@b.c a@@b.c",
    ":http://evil.example: :www.evil.example: a@:lock:@b.c @-> b http:://a",
    "x\n\n# y\n\n    z\n- l\u2028m",
)
