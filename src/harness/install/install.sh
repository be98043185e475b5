{
set -eu
umask go-w
if [ -n "${svc_spinner:-}" ]; then
  kill "$svc_spinner" 2>/dev/null || :
  printf '\r\033[K' >&2
fi
svc_node=$(command -v node 2>/dev/null) || svc_node=
if [ -z "$svc_node" ]; then
  printf '%s\n' 'svc: node is not on PATH, and the agent needs it too; install Node 22 or newer, then run this line again. Nothing was installed.' >&2
  exit 1
fi
case $svc_node in
/*) ;;
*)
  printf '%s\n' 'svc: node is found in the current folder, or is no program; put the folder of the real one first on PATH, then run this line again. Nothing was installed.' >&2
  exit 1
  ;;
esac
if ! "$svc_node" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)'; then
  printf '%s\n' "svc: Node 20 or newer is needed, this is $("$svc_node" --version); install a newer one, then run this line again. Nothing was installed." >&2
  exit 1
fi
svc_status=0
"$svc_node" --input-type=module - "$@" <<'SVC_PROGRAM' || svc_status=$?
const installation = @installation@
const program = @program@
globalThis[Symbol.for("svc.installation")] = { installation, program }
await import("data:text/javascript;charset=utf-8," + encodeURIComponent(program))
SVC_PROGRAM
exit "$svc_status"
}
