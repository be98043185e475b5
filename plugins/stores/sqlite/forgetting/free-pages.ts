/** Looks at the pages of a database that are free: those that were overwritten are empty. */
import { closeSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 100
const PAGE_BYTES_AT = 16
const FIRST_TRUNK_AT = 32
const FREE_PAGES_AT = 36
/** As the header spells the largest page, which needs one bit more than there is room for. */
const LARGEST_PAGE = 65_536
const TRUNK_LIST_AT = 8

/** How many pages are free and hold something. Their list is a chain of pages, each of which names the next one and the free pages it lists. */
export function dirtyFreePages(path: string): number {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(file, header, 0, HEADER_BYTES, 0)
    const spelled = header.readUInt16BE(PAGE_BYTES_AT)
    const page = Buffer.alloc(spelled === 1 ? LARGEST_PAGE : spelled)
    const isEmpty = (): boolean => page.every((byte) => byte === 0)
    const read = (number: number): void => void readSync(file, page.fill(0), 0, page.length, (number - 1) * page.length)
    let left = header.readUInt32BE(FREE_PAGES_AT)
    let dirty = 0
    for (let trunk = header.readUInt32BE(FIRST_TRUNK_AT); trunk !== 0 && left > 0; left -= 1) {
      read(trunk)
      const listed = Math.min(page.readUInt32BE(4), left, page.length / 4 - 2)
      const numbers = Array.from({ length: listed }, (_, at) => page.readUInt32BE(TRUNK_LIST_AT + 4 * at))
      trunk = page.readUInt32BE(0)
      for (const number of numbers) {
        read(number)
        if (!isEmpty()) dirty += 1
      }
      left -= listed
    }
    return dirty
  } finally {
    closeSync(file)
  }
}
