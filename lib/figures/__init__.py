"""What the desk says of a question, a board or a deal, as values and texts, for screens and documents alike.

Nothing here knows of Streamlit or of a session; a `RequestContext` says who asks and how they write.
"""
