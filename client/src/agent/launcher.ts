/** The command `svc-<adapter>`: a few lines of shell that start the wrapper for one install. */
import { inFolder } from './places.ts'

/** On the Node it was installed with; when that is gone, on whichever is there. */
export function launcherText(folder: string, node: string): string {
  return `#!/bin/sh
node=${quoted(node)}
[ -x "$node" ] || node=node
exec "$node" ${quoted(inFolder(folder).wrapper)} ${quoted(folder)} "$@"
`
}

/** One word for a shell, whatever is in it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
