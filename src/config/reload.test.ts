import { describe, expect, it } from 'vitest'
import { loadArguments } from '../../test/support/settings.ts'
import { reloadConfig, type ReloadedConfig } from './reload.ts'

const load = (...args: readonly string[]) => loadArguments(['--inference.runtime', 'practice', ...args])

async function reload(now: readonly string[], next: readonly string[]): Promise<ReloadedConfig> {
  return reloadConfig(await load(...now), await load(...next))
}

const tls = (certificate: string, key: string): readonly string[] => ['--svc.tls.certificate', certificate, '--svc.tls.key', key]

describe('a configuration that is read again', () => {
  it('does not open a service to other machines: the host stays, so the last token does', async () => {
    const [first, second] = ['b1946ac92492d2347c6235b4', 'd2611184b1946ac92492d234']
    const open = ['--svc.host', '0.0.0.0', '--svc.token', first]
    await expect(reload(open, ['--svc.host', '127.0.0.1'])).rejects.toThrow(
      /^svc\.host stays 0\.0\.0\.0 until a restart, .*; keep svc\.token/,
    )
    const other = await reload(open, ['--svc.host', '127.0.0.1', '--svc.tokens', `[${second}]`])
    expect(other.loaded.config.svc).toMatchObject({ host: '0.0.0.0', token: null, tokens: [second] })
    await expect(reload(open, ['--svc.host', '127.0.0.1', '--svc.token', 'hunter2'])).rejects.toThrow(
      /svc\.token is easily guessed: .*; set one/,
    )
    expect((await reload(['--svc.token', 't'], [])).applied).toEqual(['svc.token'])
  })

  it('takes over another version of TLS, and needs a restart for files of other names', async () => {
    const here = tls('/a.pem', '/a.key')
    expect(await reload(here, [...here, '--svc.tls.min_version', 'TLSv1.3'])).toMatchObject({ applied: ['svc.tls'], needsRestart: [] })
    const moved = await reload(here, tls('/a.pem', '/b.key'))
    expect(moved).toMatchObject({ applied: [], needsRestart: ['svc.tls'] })
    expect(moved.loaded.config.svc.tls).toMatchObject({ key: '/a.key' })
    for (const change of [await reload(here, []), await reload([], here)])
      expect(change).toMatchObject({ applied: [], needsRestart: ['svc.tls'] })
  })
})
