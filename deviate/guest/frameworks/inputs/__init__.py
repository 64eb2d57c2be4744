"""What enters the program through functions of modules: these are patched while a trace is on, or for a cure."""
