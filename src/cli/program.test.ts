import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedFolder } from '../../test/support/folder.ts'
import { execute } from './testing/surroundings.ts'

const file = join(sharedFolder(), 'svc.yaml')
writeFileSync(file, 'svc:\n  port: 9100\n  token: hunter2\n')

const run = (...args: readonly string[]) => execute(args)

const REMOTE = [
  'status',
  'releases',
  'promote',
  'reject',
  'comment',
  'rollback',
  'withdraw',
  'records',
  'tail',
  'audit',
  'scenarios',
  'ask',
  'report',
  'show',
  'diff',
  'open',
  'replay',
]

describe('help and version', () => {
  test('--help shows every command and examples', async () => {
    const { exit, out } = await run('--help')
    expect(exit).toBe(0)
    const commands = ['serve', 'init', 'improve', 'doctor', 'verify', 'forget', 'docs', 'config', ...REMOTE, 'completion']
    for (const word of [...commands, 'Examples:', '--section.key value', 'Exit codes']) expect(out).toContain(word)
  })

  test.each([
    ['serve'],
    ['init'],
    ['improve'],
    ['doctor'],
    ['verify'],
    ['forget'],
    ['docs'],
    ['config'],
    ['config', 'print'],
    ['config', 'schema'],
    ...REMOTE.map((name) => [name]),
    ['completion'],
    ['token', 'create'],
    ['token', 'list'],
    ['token', 'rotate'],
    ['token', 'revoke'],
  ])('%s has an example in its help', async (...command) => {
    const { exit, out } = await run(...command, '--help')
    expect(exit).toBe(0)
    expect(out).toMatch(new RegExp(`\nExample:\n {2}.*svc ${command[0]}`))
  })

  test.each(REMOTE)('%s takes an address and a configuration, and never a token', async (command) => {
    const { out } = await run(command, '--help')
    for (const option of ['--url <url>', '--config <file>', '--json']) expect(out).toContain(option)
    expect(out).not.toContain('token')
  })

  test('--version is the package’s', async () => {
    expect(await run('--version')).toMatchObject({ exit: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  })

  test('no command shows the help and is a misuse', async () => {
    const { exit, out } = await run()
    expect(exit).toBe(2)
    expect(out).toContain('Usage: svc')
  })
})

describe('misuse is one line and exit code 2', () => {
  test.each([
    [['srve'], "unknown command 'srve' (Did you mean serve?)"],
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['serve', '-c'], "option '-c, --config <file>' argument missing"],
    [['serve', '--svc.prot', '1'], 'command line: svc.prot is not a known key: did you mean svc.port?'],
    [['rollback'], "missing required argument 'release'"],
    [['status', 'x'], "too many arguments for 'status'. Expected 0 arguments but got 1: x."],
    [
      ['tail', '--interval', '0'],
      "option '--interval <seconds>' argument '0' is invalid. It must be a number of seconds from 0.01 to 3600.",
    ],
    [['status', '--svc.prot', '1'], 'command line: svc.prot is not a known key: did you mean svc.port?'],
    [['status', '-c', 'absent.yaml'], 'absent.yaml: there is no such file: name the configuration with -c FILE'],
    [['serve', '-c', 'absent.yaml'], 'absent.yaml: there is no such file: name the configuration with -c FILE'],
    [['config', 'print', '--svc.port', 'x'], 'command line: svc.port must be a whole number from 0 to 65535, not text'],
  ])('%j', async (args, line) => {
    expect(await run(...args)).toMatchObject({ exit: 2, out: '', err: [line] })
  })

  test('every problem of a configuration has its line', async () => {
    const { err } = await run('serve', '--svc.prot', '1', '--svc.port', 'x')
    expect(err).toHaveLength(2)
  })
})

describe('printing the configuration', () => {
  test.each([
    ['serve', '--print-config'],
    ['config', 'print'],
  ])('%s %s', async (...command) => {
    const { exit, out } = await run(...command, '-c', file, '--svc.host', '::1')
    expect(exit).toBe(0)
    expect(out).toMatch(/svc\.port +9100 +file:2/)
    expect(out).toMatch(/svc\.host +"::1" +command line/)
    expect(out).not.toContain('hunter2')
  })

  test('as JSON', async () => {
    const { out } = await run('serve', '--print-config', '--json', '-c', file)
    expect(JSON.parse(out)).toMatchObject({ upstream: { runtime: 'provider' } })
    expect(out).not.toContain('hunter2')
  })

  test('config schema prints the JSON schema [config.schema]', async () => {
    const { exit, out } = await run('config', 'schema')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toHaveProperty('properties.svc.properties.port')
  })
})
