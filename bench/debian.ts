/** Programs of the machine that contestants need, as Debian's packages. */

import { spawnSync } from 'node:child_process'

export const howToInstall = (name: string): string => `apt-get install ${name}`

export function installDebian(name: string): void {
  const [command = '', ...args] = howToInstall(name).split(' ')
  const { status } = spawnSync(command, [...args, '-y'], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`cannot install ${name}; try ${howToInstall(name)}`)
}
