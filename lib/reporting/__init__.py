"""Everything about slicers: their definition, their rows, questions and answers."""
