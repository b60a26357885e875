"""One suite, many transports: what the APIs promise, asked in this process and over a socket."""
