/** What the commands are, in words. */
import { commandOf } from './places.ts'
import type { InstallRecord } from './record.ts'

type Named = Pick<InstallRecord, 'adapter' | 'binary' | 'scenario' | 'url' | 'destination' | 'client'>

export function usageText({ adapter, binary, scenario, url, destination, client }: Named): string {
  const command = commandOf(adapter)
  const takes = Object.keys(client.takes ?? {}).join(',')
  return `Usage: ${command} [arguments of ${binary}]
       ${command} <command> [options]

Runs ${binary} with the harness of scenario ${scenario} at ${url}. Its calls are recorded there; report how good they were.

Commands:
  report --score <number>   tell the service how good the newest session was
         --feedback <text>    and why
         --per-receipt        one report for each call instead of one for all
         --session <id>       another session than the newest; each can be reported once
         --list               the sessions there are
         --json
  harness '<request>'       ask for a change of the harness
         --wait               until it is settled
         --timeout <seconds>  and no longer than that (default 1800)
         --json
  update                    install the newest release of the harness
         --release <id>       this release instead; the install stays at it until the next update
         --provisional        the provisional release, where there is one: it is unproven
  setup                     what the harness needs of this machine, and whether it is there
         --yes                yes to everything that runs nothing; checks are only listed
         --run-checks <digest>  run the checks that were listed under this digest, and no others
         --mark <name>  --release <id>  --json
  page <step|vN> [--print]  what a step of the harness changed, in the browser
  doctor [--json]           whether everything is in order
  trust [<fingerprint>]     the key of the service that is trusted here; with a fingerprint, trust that one from now on
  uninstall [--yes]         remove everything that was installed here, but for files you changed
  notice                    for hooks of ${binary}: word of a newer release
  help                      this text; --help and -h show that of ${binary} too

Before any of them, --scenario <name> chooses between several installs of ${binary}. Without it the nearest folder upwards
that a harness lies in decides.${
    takes === ''
      ? ''
      : `

--take ${takes} right before the arguments of ${binary} takes over these things of your own for that session.`
  }

Anything else goes to ${binary} as it is. After '--' everything does: ${command} -- report

Exit status: that of ${binary} when it ran; else 0 done, 1 failed, 2 not understood, 3 something must be set up first, 4 gave up waiting.

Harness: ${destination}
`
}
