# SPDX-License-Identifier: Apache-2.0
"""The fields of the Kubernetes objects that deploy/kubernetes uses, from the API reference of Kubernetes 1.31.

A type is a dictionary from field to kind; a kind is
    str int bool          a scalar (an integer is no string: quote it)
    quantity              "500m", "2Gi", 4
    int-or-str            a port's number or name, 25%
    [kind]  {kind}        a list, a map from strings
    a|b|c                 one of these words
    Name                  another type
and ends in "!" where the field is required. Fields that this project has no use for are left out: using one is an error
here until it is added, after a look at the reference.
"""

ROOTS = {
    ("v1", "Namespace"): "Namespace", ("v1", "ServiceAccount"): "ServiceAccount", ("v1", "Service"): "Service",
    ("v1", "ConfigMap"): "ConfigMap", ("v1", "Pod"): "Pod", ("apps/v1", "Deployment"): "Deployment", ("apps/v1", "StatefulSet"): "StatefulSet",
    ("apps/v1", "DaemonSet"): "DaemonSet", ("networking.k8s.io/v1", "NetworkPolicy"): "NetworkPolicy",
    ("policy/v1", "PodDisruptionBudget"): "PodDisruptionBudget",
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"): "Kustomization",
}

OBJECT = {"apiVersion": "str!", "kind": "str!", "metadata": "ObjectMeta!"}

TYPES = {
    "ObjectMeta": {"name": "str!", "namespace": "str", "labels": "{str}", "annotations": "{str}"},
    "TemplateMeta": {"name": "str", "labels": "{str}", "annotations": "{str}"},
    "LabelSelector": {"matchLabels": "{str}", "matchExpressions": "[LabelRequirement]"},
    "LabelRequirement": {"key": "str!", "operator": "In|NotIn|Exists|DoesNotExist!", "values": "[str]"},
    "Namespace": OBJECT,
    "ServiceAccount": {**OBJECT, "automountServiceAccountToken": "bool"},
    "Service": {**OBJECT, "spec": "ServiceSpec!"},
    "ServiceSpec": {"type": "ClusterIP|NodePort|LoadBalancer|ExternalName", "clusterIP": "str", "selector": "{str}",
                    "ports": "[ServicePort]", "publishNotReadyAddresses": "bool"},
    "ServicePort": {"name": "str", "port": "int!", "targetPort": "int-or-str", "protocol": "TCP|UDP|SCTP",
                    "appProtocol": "str"},
    "ConfigMap": {**OBJECT, "data": "{str}"},
    "Pod": {**OBJECT, "spec": "PodSpec!"},
    "PodTemplate": {"metadata": "TemplateMeta!", "spec": "PodSpec!"},
    "Deployment": {**OBJECT, "spec": "DeploymentSpec!"},
    "DeploymentSpec": {"replicas": "int", "selector": "LabelSelector!", "template": "PodTemplate!",
                       "strategy": "DeploymentStrategy", "minReadySeconds": "int", "revisionHistoryLimit": "int"},
    "DeploymentStrategy": {"type": "Recreate|RollingUpdate", "rollingUpdate": "RollingUpdate"},
    "RollingUpdate": {"maxUnavailable": "int-or-str", "maxSurge": "int-or-str"},
    "StatefulSet": {**OBJECT, "spec": "StatefulSetSpec!"},
    "StatefulSetSpec": {"replicas": "int", "serviceName": "str!", "selector": "LabelSelector!", "template": "PodTemplate!",
                        "podManagementPolicy": "OrderedReady|Parallel", "volumeClaimTemplates": "[VolumeClaim]"},
    "DaemonSet": {**OBJECT, "spec": "DaemonSetSpec!"},
    "DaemonSetSpec": {"selector": "LabelSelector!", "template": "PodTemplate!", "updateStrategy": "DaemonSetStrategy",
                      "minReadySeconds": "int"},
    "DaemonSetStrategy": {"type": "RollingUpdate|OnDelete", "rollingUpdate": "RollingUpdate"},
    "VolumeClaim": {"metadata": "ObjectMeta!", "spec": "VolumeClaimSpec!"},
    "VolumeClaimSpec": {"accessModes": "[ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod]!",
                        "storageClassName": "str", "resources": "VolumeResources!"},
    "VolumeResources": {"requests": "{quantity}!", "limits": "{quantity}"},
    "PodSpec": {"serviceAccountName": "str", "automountServiceAccountToken": "bool", "restartPolicy": "Always|OnFailure|Never",
                "terminationGracePeriodSeconds": "int", "securityContext": "PodSecurityContext", "nodeSelector": "{str}",
                "tolerations": "[Toleration]", "topologySpreadConstraints": "[TopologySpread]",
                "initContainers": "[InitContainer]", "containers": "[Container]!", "volumes": "[Volume]",
                "priorityClassName": "str", "hostNetwork": "bool", "hostPID": "bool", "hostIPC": "bool"},
    "PodSecurityContext": {"runAsNonRoot": "bool", "runAsUser": "int", "runAsGroup": "int", "fsGroup": "int",
                           "fsGroupChangePolicy": "OnRootMismatch|Always", "seccompProfile": "SeccompProfile"},
    "SeccompProfile": {"type": "RuntimeDefault|Localhost|Unconfined!", "localhostProfile": "str"},
    "Toleration": {"key": "str", "operator": "Exists|Equal", "value": "str",
                   "effect": "NoSchedule|PreferNoSchedule|NoExecute", "tolerationSeconds": "int"},
    "TopologySpread": {"maxSkew": "int!", "topologyKey": "str!", "whenUnsatisfiable": "DoNotSchedule|ScheduleAnyway!",
                       "labelSelector": "LabelSelector"},
    "Container": {"name": "str!", "image": "str!", "imagePullPolicy": "Always|IfNotPresent|Never", "command": "[str]",
                  "args": "[str]", "workingDir": "str", "env": "[EnvVar]", "ports": "[ContainerPort]",
                  "startupProbe": "Probe", "livenessProbe": "Probe", "readinessProbe": "Probe", "resources": "Resources",
                  "securityContext": "SecurityContext", "volumeMounts": "[VolumeMount]"},
    "EnvVar": {"name": "str!", "value": "str", "valueFrom": "EnvVarSource"},
    "EnvVarSource": {"fieldRef": "FieldRef", "secretKeyRef": "KeyRef", "configMapKeyRef": "KeyRef"},
    "FieldRef": {"fieldPath": "str!", "apiVersion": "str"},
    "KeyRef": {"name": "str!", "key": "str!", "optional": "bool"},
    "ContainerPort": {"name": "str", "containerPort": "int!", "protocol": "TCP|UDP|SCTP"},
    "Probe": {"httpGet": "HttpGet", "exec": "Exec", "tcpSocket": "TcpSocket", "grpc": "GrpcProbe",
              "initialDelaySeconds": "int", "periodSeconds": "int", "timeoutSeconds": "int", "failureThreshold": "int",
              "successThreshold": "int"},
    "HttpGet": {"path": "str", "port": "int-or-str!", "scheme": "HTTP|HTTPS", "host": "str"},
    "Exec": {"command": "[str]!"},
    "TcpSocket": {"port": "int-or-str!"},
    "GrpcProbe": {"port": "int!", "service": "str"},
    "Resources": {"requests": "{quantity}", "limits": "{quantity}"},
    "SecurityContext": {"allowPrivilegeEscalation": "bool", "readOnlyRootFilesystem": "bool", "runAsNonRoot": "bool",
                        "runAsUser": "int", "runAsGroup": "int", "privileged": "bool", "capabilities": "Capabilities",
                        "seccompProfile": "SeccompProfile"},
    "Capabilities": {"add": "[str]", "drop": "[str]"},
    "VolumeMount": {"name": "str!", "mountPath": "str!", "subPath": "str", "readOnly": "bool"},
    "Volume": {"name": "str!", "configMap": "ConfigMapVolume", "secret": "SecretVolume", "emptyDir": "EmptyDir",
               "persistentVolumeClaim": "ClaimVolume"},
    "ConfigMapVolume": {"name": "str!", "defaultMode": "int", "optional": "bool"},
    "SecretVolume": {"secretName": "str!", "defaultMode": "int", "optional": "bool"},
    "EmptyDir": {"medium": "Memory", "sizeLimit": "quantity"},
    "ClaimVolume": {"claimName": "str!", "readOnly": "bool"},
    "NetworkPolicy": {**OBJECT, "spec": "NetworkPolicySpec!"},
    "NetworkPolicySpec": {"podSelector": "LabelSelector!", "policyTypes": "[Ingress|Egress]", "ingress": "[IngressRule]",
                          "egress": "[EgressRule]"},
    "IngressRule": {"from": "[Peer]", "ports": "[PolicyPort]"},
    "EgressRule": {"to": "[Peer]", "ports": "[PolicyPort]"},
    "Peer": {"podSelector": "LabelSelector", "namespaceSelector": "LabelSelector"},
    "PolicyPort": {"protocol": "TCP|UDP|SCTP", "port": "int-or-str", "endPort": "int"},
    "PodDisruptionBudget": {**OBJECT, "spec": "BudgetSpec!"},
    "BudgetSpec": {"selector": "LabelSelector!", "minAvailable": "int-or-str", "maxUnavailable": "int-or-str"},
    "Kustomization": {"apiVersion": "str!", "kind": "str!", "namespace": "str", "resources": "[str]",
                      "configMapGenerator": "[ConfigMapGenerator]", "images": "[ImageTag]"},
    "ConfigMapGenerator": {"name": "str!", "files": "[str]", "literals": "[str]"},
    "ImageTag": {"name": "str!", "newName": "str", "newTag": "str", "digest": "str"},
}
TYPES["InitContainer"] = {**TYPES["Container"], "restartPolicy": "Always"}
