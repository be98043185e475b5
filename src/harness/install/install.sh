{
set -eu
if [ -n "${svc_spinner:-}" ]; then
  kill "$svc_spinner" 2>/dev/null || :
  printf '\r\033[K' >&2
fi
if ! command -v node >/dev/null 2>&1; then
  printf '%s\n' 'svc: node is not on PATH, and the agent needs it too; install Node 22 or newer, then run this line again. Nothing was installed.' >&2
  exit 1
fi
if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)'; then
  printf '%s\n' "svc: Node 20 or newer is needed, this is $(node --version); install a newer one, then run this line again. Nothing was installed." >&2
  exit 1
fi
svc_status=0
node --input-type=module - "$@" <<'SVC_PROGRAM' || svc_status=$?
const installation = @installation@
const program = @program@
globalThis[Symbol.for("svc.installation")] = { installation, program }
await import("data:text/javascript;charset=utf-8," + encodeURIComponent(program))
SVC_PROGRAM
exit "$svc_status"
}
