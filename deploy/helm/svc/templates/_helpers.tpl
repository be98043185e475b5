{{- define "svc.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "svc.claim" -}}
{{- .Values.persistence.existingClaim | default (include "svc.name" .) -}}
{{- end -}}

{{/* What would start and lose data, or sign with several keys, is not rendered. */}}
{{- define "svc.check" -}}
{{- $storage := .Values.config.storage | default dict -}}
{{- $many := gt (int .Values.replicaCount) 1 -}}
{{- if and $many (ne ($storage.record_backend | default "sqlite") "postgres") -}}
{{- fail "replicaCount is above 1, and config.storage.record_backend is not postgres; only PostgreSQL is shared by several gateways" -}}
{{- end -}}
{{- if and $many (not (hasPrefix "s3://" ($storage.artifact_repository | default ""))) -}}
{{- fail "replicaCount is above 1, and config.storage.artifact_repository is no bucket (s3://…); releases on one machine are not found by another" -}}
{{- end -}}
{{- if and $many .Values.persistence.enabled (ne .Values.persistence.accessMode "ReadWriteMany") -}}
{{- fail "replicaCount is above 1, and persistence.accessMode is not ReadWriteMany; set it, or persistence.enabled to false with a signingKeySecret" -}}
{{- end -}}
{{- if and $many (not .Values.persistence.enabled) (not .Values.signingKeySecret) -}}
{{- fail "replicaCount is above 1 without a shared folder, and signingKeySecret is not set; every gateway would sign with a key of its own" -}}
{{- end -}}
{{- if and (not $many) (not .Values.persistence.enabled) (ne ($storage.record_backend | default "sqlite") "postgres") -}}
{{- fail "persistence.enabled is false, and records are in SQLite; they would be lost with the pod" -}}
{{- end -}}
{{- end -}}
