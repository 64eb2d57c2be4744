"""Names, values and origins: what an expression of the user stands for."""
