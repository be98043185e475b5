/** What the commands are, in words. */
import { POLL_SECONDS_DEFAULT, TURN_SECONDS_DEFAULT } from './limits.ts'

export const USAGE = `Usage: svc-native -p <prompt>
       svc-native <command> [options]

An agent whose parts are all entries of a harness tree. With -p it takes one turn in the current folder: SVC_NATIVE_DIR names the folder
'native' of the harness, and the answer is all that is printed. The commands are about a resident agent, which serves one folder:

  serve --tree <dir> --scenario <name> --url <service_url>
                               run by the harness that the scenario serves, pulled into the folder
        --follow head|pinned     go along with new releases, or change by 'mount' alone (default head)
        --poll-interval <s>      how often to look for one (default ${POLL_SECONDS_DEFAULT})
        --turn-timeout <s>       the longest a turn may take (default ${TURN_SECONDS_DEFAULT})
        --self-tools             let the agent look at its harness, try changes and propose them
  turn -p <text>               take a turn in the current folder
        --session <name>         go on with this conversation
        --quiet                  do not tell what the agent does meanwhile
  status [--json]              which release it runs by
  mount <release>              change to this release
  update [--release <id>]      change to the served release; without a resident agent, pull it into the folder
  harness '<request>'          ask for a change of the harness
        --wait                   until it is settled
        --timeout <s>            and no longer than that (default 1800)
        --json
  report --score <number>      tell the service how good the newest session was
        --feedback <text>  --per-receipt  --session <id>  --list  --json

All of them take --tree <dir>, the folder of the harness (default: the current one). 'update', 'harness' and 'report' ask the service that the
folder was last served for, or the one that --url and --scenario name. The token is read from SVC_TOKEN.

Exit status: 0 done, 1 failed, 2 not understood, 3 the turn ended without being completed, 4 gave up waiting.
`
