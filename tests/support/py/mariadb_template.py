#!/usr/bin/env python3
"""Creates the data directory of an empty MariaDB, from which every standalone server of a test starts with a copy.

mariadb-install-db starts a server and runs thousands of statements; a copy of what it made takes a twentieth of the time.
The options are those of common/adapters/mysql/mariadbd/private_mariadbd.cc. The redo log already has the size with which
the tests start their servers, because a server creates a log of another size anew and writes it in full. Its blocks of
zeros are holes, which cp does not copy.

e2e_demo, e2e_faults (on its small disk) and infra_mariadb have no copy: there a server creates its data directory itself.
"""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

REDO_LOG_MIB = 128  # kRedoLogBytesLeast of common/adapters/mysql/schema/server_sizes.h


def create(directory):
    """Creates `directory`, or creates it anew, because the installed MariaDB may be another one than last time."""
    parent = os.path.dirname(os.path.abspath(directory))
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as scratch:
        data = os.path.join(scratch, "data")
        os.mkdir(os.path.join(scratch, "tmp"))
        user = pwd.getpwuid(os.geteuid()).pw_name
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--tmpdir={scratch}/tmp",
             "--auth-root-authentication-method=socket", f"--auth-root-socket-user={user}", "--skip-test-db",
             "--skip-name-resolve", f"--innodb-log-file-size={REDO_LOG_MIB}M",
             *([f"--user={user}"] if os.geteuid() == 0 else [])], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["fallocate", "--dig-holes", os.path.join(data, "ib_logfile0")], check=True)
        shutil.rmtree(directory, ignore_errors=True)
        os.rename(data, directory)


if __name__ == "__main__":
    create(sys.argv[1])
