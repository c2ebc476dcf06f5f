#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the real manifests one way at a time and expects check_manifests to name it."""
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_manifests  # noqa: E402

try:
    import yaml
except ImportError:
    print("check_manifests_test: skipped, no PyYAML (Debian: apt-get install python3-yaml)")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"


class CheckManifestsTest(unittest.TestCase):
    def setUp(self):
        self.documents = copy.deepcopy(check_manifests.read(FOLDER, yaml))

    def one(self, kind, name):
        return next(d for _, d in self.documents if d["kind"] == kind and d["metadata"]["name"] == name)

    def daemon(self):
        return self.one("StatefulSet", "tritond")["spec"]["template"]["spec"]

    def expect(self, part):
        problems = check_manifests.check_documents(self.documents)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_the_manifests_are_right(self):
        self.assertEqual(check_manifests.check_documents(self.documents), [])
        self.assertEqual(list(check_manifests.check_drain(FOLDER, self.documents, yaml)), [])

    def test_a_field_that_kubernetes_does_not_know(self):
        self.daemon()["containers"][0]["livenessProb"] = {}
        self.expect("no field livenessProb")

    def test_a_missing_field(self):
        del self.daemon()["containers"][0]["image"]
        self.expect("image is missing")

    def test_a_number_for_a_string(self):
        self.daemon()["containers"][0]["args"] = ["--workers", 2]
        self.expect("args[1]: 2 is no str")

    def test_a_word_that_is_none_of_the_known(self):
        self.one("NetworkPolicy", "tritond-daemon")["spec"]["policyTypes"] = ["Ingres"]
        self.expect("'Ingres' is none of Ingress|Egress")

    def test_a_quantity_with_a_wrong_unit(self):
        self.daemon()["containers"][0]["resources"]["limits"]["memory"] = "12GB"
        self.expect("'12GB' is no quantity")

    def test_an_unknown_kind(self):
        self.documents[0][1]["apiVersion"] = "apps/v2"
        self.expect("unknown kind")

    def test_a_selector_that_misses_its_pods(self):
        self.one("Deployment", "tritond-compile-workers")["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] = "other"
        self.expect("does not fit its own pods")

    def test_a_service_that_selects_nothing(self):
        self.one("Service", "tritond")["spec"]["selector"] = {"app": "other"}
        problems = check_manifests.check_documents(self.documents)
        self.assertTrue(any("selects no pod" in problem for problem in problems), problems)

    def test_a_port_that_no_container_names(self):
        self.one("Service", "tritond")["spec"]["ports"][0]["targetPort"] = "rpc"
        self.expect("has a port rpc")

    def test_a_probe_of_an_unnamed_port(self):
        self.daemon()["containers"][0]["livenessProbe"]["httpGet"]["port"] = "web"
        self.expect("no port is named web")

    def test_a_probe_with_two_ways(self):
        self.daemon()["containers"][0]["livenessProbe"]["exec"] = {"command": ["true"]}
        self.expect("exactly one of")

    def test_a_mount_without_a_volume(self):
        self.daemon()["volumes"].pop()
        self.expect("there is no volume tmp")

    def test_a_daemon_beside_others_without_rules(self):
        args = self.one("Pod", "training-with-tritond")["spec"]["initContainers"][0]["args"]
        at = args.index("--access-file")
        del args[at:at + 2]
        self.expect("wants an --access-file")

    def test_root(self):
        self.daemon()["securityContext"]["runAsNonRoot"] = False
        self.expect("must run as no root")

    def test_a_writable_root(self):
        del self.daemon()["containers"][0]["securityContext"]["readOnlyRootFilesystem"]
        self.expect("read-only root")

    def test_privileges_that_are_kept(self):
        self.daemon()["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        self.expect("must give up privileges")

    def test_a_policy_that_lets_everybody_in(self):
        del self.one("NetworkPolicy", "tritond-daemon")["spec"]["ingress"][0]["from"]
        self.expect("open to everybody")

    def test_a_pod_that_is_killed_while_it_drains(self):
        self.daemon()["terminationGracePeriodSeconds"] = 60
        problems = list(check_manifests.check_drain(FOLDER, self.documents, yaml))
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("must exceed drain_grace_seconds", problems[0])

    def test_a_secret_that_nobody_is_told_to_make(self):
        self.assertEqual(list(check_manifests.check_secrets(self.documents, (FOLDER / "README.md").read_text(encoding="utf-8"))), [])
        problems = list(check_manifests.check_secrets(self.documents, "kubectl create secret generic tritond-access --from-file"))
        self.assertEqual(len(problems), 7, problems)

    def device_worker(self, vendor):
        return self.one("Deployment", f"tritond-device-workers-{vendor}")["spec"]["template"]["spec"]["containers"][0]

    def test_workers_get_the_gpus_that_they_open(self):
        limits = self.device_worker("amd")["resources"]["limits"]
        limits["nvidia.com/gpu"] = limits.pop("amd.com/gpu")
        problems = check_manifests.check_documents(self.documents)
        self.assertEqual(len(problems), 2, problems)
        self.assertIn("opens hip and asks for no such GPU", problems[0])
        self.assertIn("asks for nvidia.com/gpu and opens no such device", problems[1])

    def test_compile_workers_take_no_gpu(self):
        worker = self.one("DaemonSet", "tritond-gpu-workers")["spec"]["template"]["spec"]["containers"][0]
        worker["resources"]["limits"]["gpu.intel.com/xe"] = 1
        self.expect("asks for gpu.intel.com/xe and opens no such device")

    def test_a_library_that_no_mount_holds(self):
        self.device_worker("amd")["volumeMounts"].pop()
        self.expect("mounts nothing that holds /opt/rocm/lib/libamdhip64.so")

    def test_each_vendor_has_its_workers(self):
        self.assertEqual(list(check_manifests.check_vendors(self.documents)), [])
        self.one("DaemonSet", "tritond-gpu-workers")["spec"]["template"]["spec"]["tolerations"].pop(1)
        rest = [one for one in self.documents if not one[1].get("metadata", {}).get("name", "").endswith("-nvidia")]
        problems = list(check_manifests.check_vendors(rest))
        self.assertEqual(problems, ["no device worker opens cuda", "the compile workers on machines with GPUs do not tolerate amd.com/gpu"])

    def test_a_monitor_of_a_port_that_no_service_has(self):
        self.one("ServiceMonitor", "tritond")["spec"]["endpoints"][0]["port"] = "metrics"
        self.expect("0 services have the port metrics")

    def test_a_monitor_that_scrapes_each_daemon_twice(self):
        self.one("Service", "tritond-workers")["spec"]["ports"].append({"name": "http", "port": 7434, "targetPort": "http"})
        self.expect("2 services have the port http")

    def test_an_autoscaler_of_nothing(self):
        self.one("ScaledObject", "tritond-compile-workers")["spec"]["scaleTargetRef"]["name"] = "workers"
        self.expect("there is no Deployment workers")

    def check_chart(self, name, old, new):
        """Problems of the chart with one change."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(FOLDER.parent, root / "deploy")
            path = root / "deploy/helm/tritond" / name
            text = path.read_text(encoding="utf-8")
            self.assertIn(old, text)
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
            return "\n".join(check_manifests.check_chart(root, self.documents, yaml))

    def test_a_chart_that_makes_something_else(self):
        self.assertEqual(self.check_chart("values.yaml", "replicas: 4", "replicas: 4"), "")
        self.assertIn("Deployment tritond-compile-workers differs", self.check_chart("values.yaml", "replicas: 4", "replicas: 5"))
        self.assertIn("the settings differ", self.check_chart("values.yaml", "workers: 2", "workers: 3"))
        self.assertIn("no field metric", self.check_chart("templates/autoscaling.yaml", "metrics:", "metric:"))

    def test_a_chart_that_cannot_be_rendered(self):
        self.assertTrue(self.check_chart("templates/daemon.yaml", "nindent 12", "indentation 12"))
        self.assertTrue(self.check_chart("templates/workers.yaml", "{{- end }}", ""))
        self.assertIn("values.yaml has no 'sizes'", self.check_chart("templates/daemon.yaml", "storage.size", "storage.sizes"))

    def test_a_chart_that_helm_renders_otherwise(self):
        other = "kind: Service\nmetadata: {name: tritond}\n"
        with unittest.mock.patch.object(check_manifests, "helm_text", lambda *_: other):
            self.assertIn("make different objects", self.check_chart("values.yaml", "replicas: 4", "replicas: 4"))

    def test_a_chart_with_other_alerts(self):
        self.assertTrue(self.check_chart("templates/prometheus-rule.yaml", '"alerts.yaml"', '"values.yaml"'))
        self.assertIn("its rules are not", self.check_chart("templates/prometheus-rule.yaml", "spec:", "spec:\n  limit: 1"))

    def test_the_alerts_become_a_rule_of_the_operator(self):
        line = re.search(r"^(\{ printf .*)$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE).group(1)
        done = subprocess.run(["sh", "-c", line.partition(" | kubectl")[0]], cwd=FOLDER.parents[1], capture_output=True, text=True, check=True)
        rule = yaml.safe_load(done.stdout)
        self.assertEqual((rule["kind"], rule["metadata"]["name"]), ("PrometheusRule", "tritond"))
        self.assertEqual(rule["spec"], yaml.safe_load((FOLDER.parent / "prometheus/alerts.yaml").read_text(encoding="utf-8")))

    def test_a_flag_that_the_daemon_does_not_have(self):
        pod = next(d for _, d in self.documents if d["kind"] == "Pod")
        pod["spec"]["initContainers"][0]["args"].append("--no-such-flag")
        self.assertIn("--no-such-flag", "\n".join(check_manifests.check_drain(FOLDER, self.documents, yaml)))

    def test_a_resource_that_is_not_there(self):
        kustomization = next(d for _, d in self.documents if d["kind"] == "Kustomization")
        kustomization["resources"] = [r for r in kustomization["resources"] if r != "services.yaml"] + ["gone.yaml"]
        problems = "\n".join(check_manifests.check_kustomization(FOLDER, kustomization))
        self.assertIn("there is no gone.yaml", problems)
        self.assertIn("services.yaml is not listed", problems)


if __name__ == "__main__":
    unittest.main()
