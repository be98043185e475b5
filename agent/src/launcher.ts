/** The command `svc-<adapter>`: a few lines of shell that start the wrapper for one install. */
import { quoted } from '@svc-ai/client/shared'
import { inFolder } from './places.ts'

/**
 * On the Node it was installed with; when that is gone, on whichever is there. Called by its link on PATH it is for whichever install of the
 * agent fits the folder; called by its own path it is for this one.
 */
export function launcherText(folder: string, node: string, adapter: string): string {
  return `#!/bin/sh
node=${quoted(node)}
[ -x "$node" ] || node=node
[ ! -L "$0" ] || exec "$node" ${quoted(inFolder(folder).wrapper)} ${ANY} ${quoted(adapter)} ${quoted(folder)} "$@"
exec "$node" ${quoted(inFolder(folder).wrapper)} ${quoted(folder)} "$@"
`
}

/** Before the name of an agent: any install of it. */
export const ANY = '--any'

/** As a person would type it: in quotes only where a shell needs them. */
export const typed = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))
