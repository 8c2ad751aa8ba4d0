"""The package beside the protobuf packages that other programs need: CARILLON_PROTOBUFS/VERSION has each of them."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOBUFS = os.environ["CARILLON_PROTOBUFS"]
LIMIT_S = 120

ONE_RUN = """
import sys, unittest, google.protobuf, test_worker
assert google.protobuf.__version__ == sys.argv.pop(), google.protobuf.__version__
unittest.main(test_worker, argv=["", "WorkerTest.test_facts_result_and_confirmation"])
"""


class PackageTest(unittest.TestCase):
    def test_the_generated_code_is_that_of_the_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "carillon"))
            subprocess.run(["sh", os.path.join(HERE, "../generate.sh"), folder], check=True, timeout=LIMIT_S)
            with open(os.path.join(folder, "carillon/worker_pb2.py")) as generated, \
                    open(os.path.join(HERE, "../carillon/worker_pb2.py")) as kept:
                self.assertEqual(generated.read(), kept.read(), "run sdk/python/generate.sh")

    def test_a_run_with_each_protobuf(self):
        with open(os.path.join(HERE, "protobuf_versions")) as file:
            versions = file.read().split()
        self.assertEqual([version.split(".")[0] for version in versions], ["4", "5", "6", "7"])
        for version in versions:
            path = os.pathsep.join([os.path.join(PROTOBUFS, version), HERE])
            done = subprocess.run([sys.executable, "-W", "error", "-c", ONE_RUN, version], timeout=LIMIT_S, text=True,
                                  env=dict(os.environ, PYTHONPATH=path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, f"protobuf {version}: {done.stdout}")


if __name__ == "__main__":
    unittest.main()
