"""Extensions of deviate for `labbook` and `labnet`: one file for each, loaded through the entry points."""
