"""Questions, one file for each framework; each is loaded alone, by its path, into the interpreter of the user."""
