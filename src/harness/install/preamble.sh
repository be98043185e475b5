if [ -t 2 ]; then
  (
    while :; do
      for svc_frame in '|' '/' '-' '\'; do
        kill -0 $$ 2>/dev/null || exit 0
        printf '\r%s preparing the harness' "$svc_frame" >&2
        sleep 1
      done
    done
  ) &
  svc_spinner=$!
else
  printf '%s\n' 'preparing the harness ...' >&2
fi
