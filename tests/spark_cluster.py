"""A Spark cluster on this machine: a master and two workers, processes of their own, on loopback."""

import importlib.util
import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOST, MEMORY = "127.0.0.1", "512m"
OPTIONS = f"driver_host={HOST}&memory={MEMORY}&partitions=2"
# Java that starts quickly and compiles nothing for small questions, on machines whose clock is not in UTC.
JAVA = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dspark.sql.codegen.wholeStage=false",
    "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
    "-Dspark.sql.files.openCostInBytes=1",
    "-Dspark.ui.enabled=false",
)
ENVIRONMENT = {"JAVA_TOOL_OPTIONS": " ".join(JAVA), "TZ": "America/New_York"}
STARTED = re.compile(r"Starting Spark master at spark://(\S+)")


def missing_for_spark() -> str:
    """What tests on Spark need and is not installed."""
    found = {"pyspark": importlib.util.find_spec("pyspark"), "Java": shutil.which("java")}
    return ", ".join(name for name, there in found.items() if there is None)


@contextmanager
def cluster(folder: Path, environment: Mapping[str, str] = ENVIRONMENT) -> Iterator[str]:
    """A running cluster with its files in a folder: the address of its master. Stopped in the end."""
    with ExitStack() as running:
        master = running.enter_context(_process(environment, "master.Master"))
        assert master.stderr is not None
        address = next(found[1] for line in master.stderr if (found := STARTED.search(line)))
        rest = threading.Thread(target=deque, args=(master.stderr, 0), daemon=True)
        rest.start()
        running.callback(rest.join)
        running.callback(master.terminate)
        for name in ("one", "two"):
            kept = ("--work-dir", str(folder / name), f"spark://{address}")
            given = ("--cores", "1", "--memory", MEMORY, *kept)
            log = folder / f"{name}.log"
            running.enter_context(_process(environment, "worker.Worker", *given, log=log))
        yield address


@contextmanager
def _process(
    environment: Mapping[str, str], kind: str, *arguments: str, log: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """One of Spark's own processes, with ports that are free. Its messages go to a file, or to us."""
    import pyspark

    home = str(Path(pyspark.__file__).parent)
    command = ["java", f"-Xmx{MEMORY}", "-Dspark.master.rest.enabled=false", "-cp", f"{home}/jars/*"]
    command += [f"org.apache.spark.deploy.{kind}", "--host", HOST, "--port", "0", "--webui-port", "0"]
    own = {"SPARK_HOME": home, "SPARK_LOCAL_IP": HOST, "SPARK_SCALA_VERSION": "2.13"}
    with ExitStack() as open_files:
        target = open_files.enter_context(log.open("w")) if log else subprocess.PIPE
        running = subprocess.Popen(
            [*command, *arguments], env={**os.environ, **environment, **own}, stderr=target, text=True
        )
        with running:
            try:
                yield running
            finally:
                running.terminate()
