import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { eventsIn, filesBelow, readJsonLines } from './json-lines.ts'
import { printJson } from './print.ts'

describe('a session log', () => {
  it('is read from every file below the folder, in the order of their paths, and never through a link', async () => {
    const folder = temporaryFolder()
    await mkdir(join(folder, 'b'))
    await writeFile(join(folder, 'b', '1.jsonl'), '{"at":2}\n')
    await writeFile(join(folder, 'a.jsonl'), '{"at":1}\n\n')
    await writeFile(join(folder, 'c.txt'), 'not a log')
    await symlink(join(folder, 'a.jsonl'), join(folder, 'd.jsonl'))
    await symlink(folder, join(folder, 'e'))
    expect(await readJsonLines(`${folder}/`)).toEqual([{ at: 1 }, { at: 2 }])
    expect(await filesBelow(folder)).toEqual(['a.jsonl', 'b/1.jsonl', 'c.txt'])
  })

  it('that is too large is refused before it is read', async () => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'a.jsonl'), '{"at":1}\n')
    await truncate(join(folder, 'a.jsonl'), 2 ** 40)
    await expect(readJsonLines(folder)).rejects.toThrow('the session log is larger than')
  })

  it('of a folder that is not there is empty', async () => {
    expect(await readJsonLines(join(temporaryFolder(), 'missing'))).toEqual([])
  })

  it('may end in half a line, but holds nothing else that is no event', () => {
    expect(eventsIn('a.jsonl', '{"a":1}\n{"b":')).toEqual([{ a: 1 }])
    expect(() => eventsIn('a.jsonl', '{"a":\n{"b":1}\n')).toThrow('line 1 of the session log a.jsonl')
    expect(() => eventsIn('a.jsonl', '7\n')).toThrow('line 1')
  })
})

describe('JSON in a tree', () => {
  it('is the same text for the same data, whatever the order, also of names that objects have', () => {
    const value = JSON.parse('{"b":[{"d":1,"c":null}],"__proto__":{"x":1},"a":"é"}')
    const turned = JSON.parse('{"a":"é","__proto__":{"x":1},"b":[{"c":null,"d":1}]}')
    expect(printJson(value)).toBe(printJson(turned))
    expect(JSON.parse(printJson(value))).toEqual(value)
    expect(printJson(value)).toContain('"__proto__"')
  })
})
