{
if [ -n "${svc_spinner:-}" ]; then
  kill "$svc_spinner" 2>/dev/null || :
  printf '\r\033[K' >&2
fi
printf '%s\n' @message@ >&2
exit 1
}
