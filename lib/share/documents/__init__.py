"""Documents of questions, boards and deals, made in the name of a person."""
