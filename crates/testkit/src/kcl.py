"""`kcl run` by the engine alone, without a package manager: kcl.py FILE [PACKAGE=FOLDER …]; prints YAML, or JSON where
KCL_FORM says so."""

import os
import sys

import kcl_lib.api as api

packages = [word.split("=", 1) for word in sys.argv[2:]]
arguments = api.ExecProgramArgs(
    k_filename_list=[sys.argv[1]],
    external_pkgs=[api.ExternalPkg(pkg_name=name, pkg_path=path) for name, path in packages],
    fast_eval=True,
)
try:
    result = api.API().exec_program(arguments)
except Exception as error:
    sys.exit(str(error))
if result.err_message:
    sys.exit(result.err_message)
sys.stdout.write(result.json_result if os.environ.get("KCL_FORM") == "json" else result.yaml_result)
