"""Searches the files that a server left for the value of a secret."""
import base64
import json
import os
import stat


def forms(value):
    """The forms in which the value, or one of its lines, may appear in a file: unchanged, in JSON, in hex, in base64 at
    any offset."""
    found = set()
    for text in [value] + value.split("\n"):
        data = text.encode()
        found |= {data, json.dumps(text)[1:-1].encode(), data.hex().encode()}
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + data)
            found.add(encoded[4 if shift else 0:-4])  # without the characters that depend on neighbouring bytes
    return found


def hiding_places(directory, needles):
    """Returns (path, needle) for each needle that a file below `directory` contains."""
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
                continue  # the file was deleted meanwhile
            places += [(path, needle) for needle in needles if needle in data]
    return places
