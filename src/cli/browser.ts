/** Opens an address in the person's browser, where there is one. */
import { spawn } from 'node:child_process'
import type { Environment } from '../config/index.ts'
import { ENV } from '../contract/index.ts'

/** Answers whether a program for it was started. The address is one argument: no shell reads it. */
export function browse(url: string, environment: Environment, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const program = programFor(environment, platform)
  if (program === null) return Promise.resolve(false)
  return new Promise((resolve) => {
    const { [ENV.token]: _token, ...env } = environment
    const started = spawn(program, [url], { stdio: 'ignore', detached: true, env })
    started.once('error', () => resolve(false))
    started.once('spawn', () => {
      started.unref()
      resolve(true)
    })
  })
}

/** Null where no screen is known of, as over SSH. */
function programFor({ BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME }: Environment, platform: NodeJS.Platform): string | null {
  if (BROWSER !== undefined && BROWSER !== '') return BROWSER
  if (platform === 'darwin') return 'open'
  if (platform === 'win32') return 'explorer.exe'
  if (WSL_DISTRO_NAME !== undefined) return 'wslview'
  return (DISPLAY ?? '') === '' && (WAYLAND_DISPLAY ?? '') === '' ? null : 'xdg-open'
}
