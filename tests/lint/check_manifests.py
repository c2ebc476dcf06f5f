#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_manifests.py [--schemas FOLDER] [ROOT]: holds deploy/kubernetes against the fields that Kubernetes knows
(kubernetes_fields.py), against each other, and against the daemon's settings. The chart deploy/helm/tritond gives the same objects
without values of one's own, and sound ones with all of its options. Helm's own engine renders it where it is installed, as the
program or as the package helm-python-sdk, and render_chart.py must agree; elsewhere render_chart.py renders alone.
One line a problem; exit status 1 when there is any, 77 without PyYAML.

FOLDER, or KUBERNETES_SCHEMAS in the environment, holds full JSON schemas under names such as statefulset-apps-v1.json, as the Python
package kubernetes-validate brings them (it is found by itself where it is installed); with the package jsonschema the manifests are
validated by those too.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kubernetes_fields import ROOTS, TYPES  # noqa: E402
from render_chart import render_chart  # noqa: E402

QUANTITY = re.compile(r"^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$")
FULL_RELEASE = "v1.31.0-local-strict"
DNS_LABEL = re.compile(r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$")


def check_value(value, kind, where):
    """Problems of a value that should be of this kind."""
    if kind.startswith("[") and kind.endswith("]"):
        if not isinstance(value, list):
            return [f"{where}: must be a list"]
        return [p for i, one in enumerate(value) for p in check_value(one, kind[1:-1], f"{where}[{i}]")]
    if kind.startswith("{") and kind.endswith("}"):
        if not isinstance(value, dict):
            return [f"{where}: must be a map"]
        return [p for name, one in value.items() for p in check_value(one, kind[1:-1], f"{where}.{name}")]
    if kind in TYPES:
        return check_object(value, kind, where)
    is_int = isinstance(value, int) and not isinstance(value, bool)
    fits = {"str": isinstance(value, str), "int": is_int, "bool": isinstance(value, bool),
            "int-or-str": is_int or isinstance(value, str),
            "quantity": is_int or isinstance(value, str) and bool(QUANTITY.match(value))}
    if kind in fits:
        return [] if fits[kind] else [f"{where}: {value!r} is no {kind}"]
    return [] if value in kind.split("|") else [f"{where}: {value!r} is none of {kind}"]


def check_object(value, name, where):
    if not isinstance(value, dict):
        return [f"{where}: must be a map"]
    fields, problems = TYPES[name], []
    for field, kind in fields.items():
        if kind.endswith("!") and field not in value:
            problems.append(f"{where}: {field} is missing")
    for field, one in value.items():
        if field not in fields:
            problems.append(f"{where}: {name} has no field {field}")
        else:
            problems += check_value(one, fields[field].rstrip("!"), f"{where}.{field}")
    return problems


def pods_of(document):
    """(labels, pod spec, names of claims) of what the document makes."""
    spec = document.get("spec") or {}
    if document["kind"] == "Pod":
        return [(document["metadata"].get("labels", {}), spec, set())]
    if "template" not in spec:
        return []
    claims = {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
    return [(spec["template"]["metadata"].get("labels", {}), spec["template"]["spec"], claims)]


def check_probe(probe, ports, where):
    handlers = [name for name in ("httpGet", "exec", "tcpSocket", "grpc") if name in probe]
    if len(handlers) != 1:
        yield f"{where}: wants exactly one of httpGet, exec, tcpSocket, grpc"
    for name in ("httpGet", "tcpSocket"):
        port = probe.get(name, {}).get("port")
        if isinstance(port, str) and port not in ports:
            yield f"{where}: no port is named {port}"


def check_container(container, volumes, where):
    ports = {port.get("name") for port in container.get("ports", [])}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        if name in container:
            yield from check_probe(container[name], ports, f"{where}.{name}")
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            yield f"{where}: there is no volume {mount['name']}"
    security = container.get("securityContext", {})
    if security.get("allowPrivilegeEscalation") is not False or security.get("capabilities", {}).get("drop") != ["ALL"]:
        yield f"{where}: must give up privileges (allowPrivilegeEscalation: false, capabilities.drop: [ALL])"
    if container["image"] == "tritond" and security.get("readOnlyRootFilesystem") is not True:
        yield f"{where}: must have a read-only root"
    if "limits" not in container.get("resources", {}):
        yield f"{where}: must have limits"


# What the device plugins of the vendors call a GPU, and the devices that it is for a worker.
GPUS = {"nvidia.com/gpu": ("cuda",), "amd.com/gpu": ("hip",), "gpu.intel.com/i915": ("ze", "cl"), "gpu.intel.com/xe": ("ze", "cl")}


def devices_of(container):
    """The kinds of device that a worker opens: {"cuda"}."""
    words = container.get("args", [])
    listed = words[words.index("--devices") + 1] if "--devices" in words[:-1] else ""
    return {one.split(":")[0] for one in listed.split(",") if one}


def check_devices(container, where):
    """A worker with devices gets GPUs of their vendor, one each, and no worker gets others. It finds the libraries that it names."""
    if container.get("command", [""])[0].rpartition("/")[2] != "triton-worker":
        return
    kinds, limits = devices_of(container), container.get("resources", {}).get("limits", {})
    for kind in sorted(kinds - {"host"}):
        if not any(kind in GPUS[name] for name in limits if name in GPUS):
            yield f"{where}: opens {kind} and asks for no such GPU"
    for name in limits:
        if name in GPUS and not kinds & set(GPUS[name]):
            yield f"{where}: asks for {name} and opens no such device"
    words = container.get("args", [])
    libraries = [after for word, after in zip(words, words[1:]) if word == "--device-library"]
    libraries += [word.split("=", 1)[1] for word in words if word.startswith("--device-library=")]
    for library in libraries:
        path = library.partition("=")[2]
        if not any(path.startswith(mount["mountPath"] + "/") for mount in container.get("volumeMounts", [])):
            yield f"{where}: mounts nothing that holds {path}"


def check_vendors(documents):
    """There are workers for the GPUs of each vendor, and compile workers go to the machines of all."""
    opened, tolerated = set(), set()
    for _, document in documents:
        for labels, spec, _ in pods_of(document):
            for container in spec["containers"]:
                opened |= devices_of(container)
            if labels.get("app.kubernetes.io/component") == "gpu-worker":
                tolerated |= {one.get("key") for one in spec.get("tolerations", [])}
    for name, kinds in GPUS.items():
        if not opened & set(kinds):
            yield f"no device worker opens {kinds[0]}"
        if name not in tolerated:
            yield f"the compile workers on machines with GPUs do not tolerate {name}"


def check_access(container, where):
    """A daemon whose socket others mount, or whose port they reach, says who may do what: without rules everybody is an admin."""
    words = container.get("args", [])
    if container["image"] == "tritond" and "command" not in container and "--config" not in words and "--access-file" not in words:
        yield f"{where}: a daemon that others reach wants an --access-file"


def check_pod(document, where):
    """What a pod's parts promise each other, and the rules of the restricted pod security standard."""
    for labels, spec, claims in pods_of(document):
        volumes = {volume["name"] for volume in spec.get("volumes", [])} | claims
        security = spec.get("securityContext", {})
        if security.get("runAsNonRoot") is not True or security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{where}: must run as no root and with the default seccomp profile"
        for container in spec.get("initContainers", []) + spec["containers"]:
            yield from check_container(container, volumes, f"{where}.{container['name']}")
            yield from check_access(container, f"{where}.{container['name']}")
            yield from check_devices(container, f"{where}.{container['name']}")
        selector = (document.get("spec") or {}).get("selector", {}).get("matchLabels", {})
        for name, value in selector.items():
            if labels.get(name) != value:
                yield f"{where}: its selector does not fit its own pods ({name})"


def fits(selector, labels):
    for name, value in selector.get("matchLabels", {}).items():
        if labels.get(name) != value:
            return False
    for one in selector.get("matchExpressions", []):
        known = labels.get(one["key"])
        if one["operator"] == "In" and known not in one["values"] or one["operator"] == "NotIn" and known in one["values"]:
            return False
        if one["operator"] == "Exists" and known is None or one["operator"] == "DoesNotExist" and known is not None:
            return False
    return True


def check_selectors(documents):
    """Services, budgets and policies choose pods that somebody makes, and ports that these have."""
    made = [(labels, spec) for _, document in documents for labels, spec, _ in pods_of(document)]
    for where, document in documents:
        spec = document.get("spec") or {}
        if document["kind"] == "Service":
            chosen = [pod for pod in made if fits({"matchLabels": spec["selector"]}, pod[0])]
        elif document["kind"] in ("PodDisruptionBudget", "NetworkPolicy"):
            chosen = [pod for pod in made if fits(spec.get("selector", spec.get("podSelector")), pod[0])]
        else:
            continue
        if not chosen:
            yield f"{where}: selects no pod"
        names = {port.get("name") for _, pod in chosen for one in pod["containers"] for port in one.get("ports", [])}
        wanted = [port.get("targetPort") for port in spec.get("ports", [])]
        wanted += [port.get("port") for rule in spec.get("ingress", []) for port in rule.get("ports", [])]
        for port in wanted:
            if isinstance(port, str) and port not in names:
                yield f"{where}: no selected pod has a port {port}"
        for rule in spec.get("ingress", []) + spec.get("egress", []):
            if not rule.get("from") and not rule.get("to"):
                yield f"{where}: a rule is open to everybody"


def check_monitors(documents):
    """Monitors choose services, and ports that these have; autoscalers choose what somebody makes."""
    services = [document for _, document in documents if document["kind"] == "Service"]
    for where, document in documents:
        spec = document.get("spec") or {}
        if document["kind"] == "ServiceMonitor":
            chosen = [one for one in services if fits(spec["selector"], one["metadata"].get("labels", {}))]
            for endpoint in spec["endpoints"]:
                having = [one for one in chosen if endpoint["port"] in {port.get("name") for port in one["spec"]["ports"]}]
                if len(having) != 1:
                    yield f"{where}: {len(having)} services have the port {endpoint['port']}; each daemon is scraped once"
        if document["kind"] in ("HorizontalPodAutoscaler", "ScaledObject"):
            target = spec["scaleTargetRef"]
            if not any(one["kind"] == target["kind"] and one["metadata"]["name"] == target["name"] for _, one in documents):
                yield f"{where}: there is no {target['kind']} {target['name']}"


def check_drain(folder, documents, yaml):
    """Kubernetes waits longer than the daemon drains; the settings are ones that the daemon has."""
    settings = yaml.safe_load((folder / "tritond.yaml").read_text(encoding="utf-8"))
    source = (folder.parents[1] / "server/app/config.cc").read_text(encoding="utf-8")
    known = set(re.findall(r'visit\(\s*"(\w+)"', source))
    for name in settings:
        if name not in known:
            yield f"tritond.yaml: the daemon has no setting {name}"
    if "access_file" not in settings:
        yield "tritond.yaml: a daemon that others reach wants an access_file"
    for where, document in documents:
        for _, spec, _ in pods_of(document):
            for container in spec.get("initContainers", []) + spec["containers"]:
                words = container.get("args", [])
                drain = settings["drain_grace_seconds"] if "--config" in words else None
                if "--drain-grace-seconds" in words:
                    drain = float(words[words.index("--drain-grace-seconds") + 1])
                if drain is not None and spec.get("terminationGracePeriodSeconds", 30) < drain + 10:
                    yield f"{where}: terminationGracePeriodSeconds must exceed drain_grace_seconds ({drain}) by 10"
                for word in words:
                    if container["image"] == "tritond" and "command" not in container and word.startswith("--"):
                        if word != "--config" and word[2:].replace("-", "_") not in known:
                            yield f"{where}: the daemon has no flag {word}"


def check_kustomization(folder, document):
    for name in document.get("resources", []) + [f for g in document.get("configMapGenerator", []) for f in g["files"]]:
        if not (folder / name).is_file():
            yield f"kustomization.yaml: there is no {name}"
    listed = set(document.get("resources", []))
    for path in sorted(folder.glob("*.yaml")):
        if path.name not in listed | {"kustomization.yaml", "tritond.yaml"}:
            yield f"kustomization.yaml: {path.name} is not listed"


def check_secrets(documents, manual):
    """README.md says how to make each secret that a pod wants."""
    for where, document in documents:
        for _, spec, _ in pods_of(document):
            for volume in spec.get("volumes", []):
                name = volume.get("secret", {}).get("secretName")
                if name and f" {name} " not in manual:
                    yield f"{where}: README.md does not say how to make the secret {name}"


def check_rendered(folder, yaml):
    """What kubectl makes of the folder, where there is a kubectl; it asks no cluster."""
    if not shutil.which("kubectl"):
        return
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"kubectl kustomize: {done.stderr.strip()}"
        return
    for document in yaml.safe_load_all(done.stdout):
        for _, spec, _ in pods_of(document):
            for container in spec["containers"]:
                if container["image"] == "tritond":
                    yield f"kubectl kustomize: {document['metadata']['name']} has an image without a registry"


def check_full(documents, schemas):
    """Validation by full schemas, where they and jsonschema are at hand."""
    try:
        import jsonschema
    except ImportError:
        print("check_manifests: full schemas are not used: no Python package jsonschema")
        return
    for where, document in documents:
        group = document["apiVersion"].replace(".k8s.io", "").replace("/", "-")
        path = pathlib.Path(schemas) / f"{document['kind'].lower()}-{group}.json"
        if not path.is_file():
            if document["kind"] != "Kustomization":
                print(f"check_manifests: no {path.name} among the full schemas")
            continue
        schema = json.loads(path.read_text(encoding="utf-8"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Its successor is not in every jsonschema.
            base = schema.get("$id") or path.resolve().as_uri()
            definitions = path.with_name("_definitions.json")
            known = json.loads(definitions.read_text(encoding="utf-8")) if definitions.is_file() else {}
            resolver = jsonschema.RefResolver(base, schema, store={urllib.parse.urljoin(base, "_definitions.json"): known})
        validator = jsonschema.Draft7Validator(schema, resolver=resolver)
        for error in validator.iter_errors(document):
            yield f"{where}: {'.'.join(str(part) for part in error.absolute_path)}: {error.message}"


def installed_schemas():
    """The folder of a release that kubernetes-validate knows; "": it is not installed."""
    package = importlib.util.find_spec("kubernetes_validate")
    if package is None:
        return ""
    folder = pathlib.Path(package.origin).parent / "kubernetes-json-schema" / FULL_RELEASE
    return str(folder) if folder.is_dir() else ""


def read(folder, yaml):
    """[(where, document)] of every manifest; tritond.yaml is no manifest."""
    documents = []
    for path in sorted(folder.rglob("*.yaml")):
        if path.name == "tritond.yaml":
            continue
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            name = (document.get("metadata") or {}).get("name", "")
            documents.append((f"{path.relative_to(folder)}: {document.get('kind')} {name}".rstrip(), document))
    return documents


def check_documents(documents):
    """Problems of the manifests, each for itself and among each other."""
    problems = []
    for where, document in documents:
        root = ROOTS.get((document.get("apiVersion"), document.get("kind")))
        if root is None:
            problems.append(f"{where}: unknown kind {document.get('apiVersion')} {document.get('kind')}")
            continue
        problems += check_object(document, root, where)
        name = (document.get("metadata") or {}).get("name", "")
        if name and not DNS_LABEL.match(str(name)):
            problems.append(f"{where}: {name} is no name")
    if problems:
        return problems  # What follows takes the fields' types for granted.
    for where, document in documents:
        problems += check_pod(document, where)
    return problems + list(check_selectors(documents)) + list(check_monitors(documents))


# Each way to use the chart; the first is as it comes.
CHART_VALUES = (
    {},
    {"daemon": {"replicas": 3, "podAnnotations": None, "storage": {"className": "fast"}, "nodeSelector": {"disk": "ssd"}},
     "imagePullSecrets": [{"name": "registry"}], "gpuWorkers": {"enabled": False}, "networkPolicy": {"enabled": False},
     "settings": {"cluster": ["kv-0:6379"]}, "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
     "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
     "workers": {"autoscaling": {"kind": "hpa"}, "tolerations": [{"key": "compile", "operator": "Exists"}]}},
    {"workers": {"autoscaling": {"kind": "keda"}}, "deviceWorkers": {"enabled": True}},
    {"deviceWorkers": {"enabled": True, "devices": "hip:0", "libraryFolder": "/opt/rocm", "supplementalGroups": [44, 109],
                       "extraArgs": ["--device-library=hip=/opt/rocm/lib/libamdhip64.so"],
                       "env": [{"name": "LD_LIBRARY_PATH", "value": "/opt/rocm/lib"}],
                       "gpu": "amd.com/gpu"}},
    {"deviceWorkers": {"enabled": True, "devices": "ze:0", "image": "registry.example/tritond-xpu:0.1.0",
                       "gpu": "gpu.intel.com/xe"}},
)


def helm_text(folder, values, yaml):
    """What helm makes of the chart; None where there is no helm. ValueError when it cannot be rendered."""
    if shutil.which("helm"):
        done = subprocess.run(["helm", "template", "tritond", str(folder), "--namespace", "tritond", "--values", "-"], text=True,
                              input=yaml.safe_dump(values), capture_output=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        return done.stdout
    try:
        import helm_python
    except ImportError:
        return None
    try:
        with helm_python.Chart.load(str(folder)) as chart:
            files = chart.render(values, name="tritond", namespace="tritond")
    except helm_python.HelmError as error:
        raise ValueError(str(error)) from None
    return "\n---\n".join(text for name, text in files.items() if not name.endswith("NOTES.txt"))


def rendered_chart(folder, values, yaml):
    """[(where, document)] of the chart, by helm where it is installed. ValueError when it cannot be rendered, or when
    render_chart.py makes something else of it."""
    values = {**values, "image": {"repository": "tritond", "tag": ""}}
    try:
        files = render_chart(folder, values, yaml)
    except KeyError as missing:
        raise ValueError(f"values.yaml has no {missing}") from None
    documents = [document for one in files.values() for document in one]
    helm = helm_text(folder, values, yaml)
    if helm is not None:
        ours, documents = documents, [document for document in yaml.safe_load_all(helm) if document]
        order = lambda one: (one["kind"], one["metadata"]["name"])  # noqa: E731
        if sorted(ours, key=order) != sorted(documents, key=order):
            raise ValueError("helm and tests/lint/render_chart.py make different objects of it")
    return [(f"helm/tritond: {one.get('kind')} {(one.get('metadata') or {}).get('name', '')}", one) for one in documents]


def without_checksum(document):
    """A copy without the annotation that only the chart has: kustomize renames a changed ConfigMap."""
    document = json.loads(json.dumps(document))
    if document["kind"] == "StatefulSet":
        document["spec"]["template"]["metadata"]["annotations"].pop("checksum/settings", None)
    return document


def check_chart(root, documents, yaml):
    """As it comes the chart is what `kubectl apply -k` makes; with its options it is sound, too."""
    folder = root / "deploy/helm/tritond"
    plain = {(one["kind"], one["metadata"]["name"]): one for where, one in documents
             if "/" not in where.split(":")[0] and one["kind"] not in ("Kustomization", "Namespace")}
    for number, values in enumerate(CHART_VALUES):
        try:
            rendered = rendered_chart(folder, values, yaml)
        except ValueError as error:
            yield f"helm/tritond: {error}"
            return
        yield from check_documents(rendered)
        alerts = yaml.safe_load((root / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8"))
        yield from (f"{where}: its rules are not deploy/prometheus/alerts.yaml" for where, one in rendered
                    if one["kind"] == "PrometheusRule" and one["spec"] != alerts)
        if number > 0:
            continue
        made = {(one["kind"], one["metadata"]["name"]): without_checksum(one) for _, one in rendered}
        settings = made.pop(("ConfigMap", "tritond-config"))["data"]["tritond.yaml"]
        for kind, name in sorted(set(made) | set(plain)):
            if made.get((kind, name)) != plain.get((kind, name)):
                yield f"helm/tritond: {kind} {name} differs from that of deploy/kubernetes"
        if yaml.safe_load(settings) != yaml.safe_load((root / "deploy/kubernetes/tritond.yaml").read_text(encoding="utf-8")):
            yield "helm/tritond: the settings differ from those of deploy/kubernetes/tritond.yaml"


def main():
    try:
        import yaml
    except ImportError:
        print("check_manifests: skipped, no PyYAML (Debian: apt-get install python3-yaml)")
        return 77
    words = sys.argv[1:]
    schemas = os.environ.get("KUBERNETES_SCHEMAS", "") or installed_schemas()
    if words[:1] == ["--schemas"]:
        schemas, words = words[1], words[2:]
    root = pathlib.Path(words[0] if words else os.path.dirname(os.path.abspath(__file__)) + "/../..").resolve()
    folder = root / "deploy/kubernetes"
    documents = read(folder, yaml)
    problems = check_documents(documents)
    for where, document in documents:
        if document.get("kind") == "Kustomization":
            problems += check_kustomization(folder, document)
    if not problems:
        problems += check_vendors(documents)
        problems += check_drain(folder, documents, yaml)
        problems += check_secrets(documents, (folder / "README.md").read_text(encoding="utf-8"))
        problems += check_rendered(folder, yaml)
        problems += check_chart(root, documents, yaml)
    if schemas:
        problems += check_full(documents, schemas)
    print("\n".join(problems) if problems else f"manifests: {len(documents)} ok" + ("" if schemas else ", without full schemas"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
