"""What the desk says of a question, as values and texts: screens draw it, documents have it. No Streamlit."""
