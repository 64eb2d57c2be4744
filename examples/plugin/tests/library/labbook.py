"""A stand-in for the library that the sink is about."""


class Page:
    def __init__(self, title):
        self.title = title

    def note(self, name, value, epoch=None):
        print(f"{self.title}: {epoch}")
