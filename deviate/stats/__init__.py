"""Statistics: scores in, findings out; knows no files, processes or templates."""
