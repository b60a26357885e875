"""A server of Spark Connect on this machine, on loopback: one Java that plans and runs."""

import importlib.util
import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

HOST, MEMORY = "127.0.0.1", "1g"
VENV = Path(__file__).parent.parent / ".venv" / "spark-server"  # `make test SPARK=1` installs it
# Java that starts quickly and compiles nothing for small questions, on machines whose clock is not in UTC.
QUICK = ("-XX:TieredStopAtLevel=1", "-Duser.timezone=America/New_York")
QUICK_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.files.openCostInBytes": "1",
}
# What Spark's own scripts open to it (launcher/JavaModuleOptions), as far as Connect needs it.
OPEN = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar",
)  # fmt: skip
STARTED = re.compile(r"Spark Connect server started at: \S+:(\d+)")


def spark_home() -> Path | None:
    """The folder of a whole Spark, with its jars; None without one. The client's package has none."""
    spec = importlib.util.find_spec("pyspark")
    folders = [VENV / "pyspark", *([Path(spec.origin).parent] if spec and spec.origin else [])]
    return next((folder for folder in folders if (folder / "jars").is_dir()), None)


def missing_for_spark() -> str:
    """What tests on Spark need and is not installed."""
    packages = {
        "pyspark-client": importlib.util.find_spec("pyspark"),
        "grpcio": importlib.util.find_spec("grpc"),
        "pyspark (a server)": spark_home(),
        "Java": shutil.which("java"),
    }
    return ", ".join(name for name, there in packages.items() if there is None)


@contextmanager
def spark_server(
    folder: Path,
    options: tuple[str, ...] = QUICK,
    settings: Mapping[str, str] = QUICK_SETTINGS,
    token: str = "",
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A running server with its files in a folder: `sc://host:port`, and its process. Stopped in the end."""
    home = spark_home()
    given = {
        "spark.master": "local[2]",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": "0",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        **({"spark.connect.authenticate.token": token} if token else {}),
        **settings,
    }
    command = ["java", f"-Xmx{MEMORY}", "-XX:+UseSerialGC", *options, "-cp", f"{home}/jars/*"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPEN]
    command += ["org.apache.spark.deploy.SparkSubmit"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST}
    with subprocess.Popen(
        [*command, "spark-internal"], cwd=folder, env={**os.environ, **own}, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stderr is not None
            said = deque[str](maxlen=50)
            for line in running.stderr:
                said.append(line)
                if match := STARTED.search(line):
                    break
            else:
                raise AssertionError("Spark Connect did not start:\n" + "".join(said))
            rest = threading.Thread(target=deque, args=(running.stderr, 0), daemon=True)
            rest.start()
            try:
                yield f"sc://{HOST}:{match[1]}", running
            finally:
                running.terminate()
                rest.join()
        finally:
            running.terminate()
