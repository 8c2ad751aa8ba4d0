"""Looks for the value of a secret in whatever a server left behind."""
import base64
import json
import os
import stat


def forms(value):
    """The value, and each line of it, as it could stand somewhere: as it is, in JSON, in hex, as
    base64 at any offset."""
    found = set()
    for text in [value] + value.split("\n"):
        data = text.encode()
        found |= {data, json.dumps(text)[1:-1].encode(), data.hex().encode()}
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + data)
            found.add(encoded[4 if shift else 0:-4])  # what does not depend on the neighbours
    return found


def hiding_places(directory, needles):
    """(path, needle) of the files below `directory` that hold one."""
    places = []
    for parent, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(parent, name)
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                with open(path, "rb") as f:
                    data = f.read()
            except FileNotFoundError:
                continue  # gone meanwhile, and so is what it held
            places += [(path, needle) for needle in needles if needle in data]
    return places
