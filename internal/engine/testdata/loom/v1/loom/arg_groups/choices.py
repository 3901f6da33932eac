WEAVES = ["plain", "twill", "satin"]
YARNS = WEAVES + ["wool"]


class Shuttle:
    ALL = ("wood", "steel")


DYES = ["red", "blue"]


def add_dye(name):
    DYES.append(name)
