/** A schema for each folder of a test: what others keep in folders of their own, this store keeps in one database. */
import { hash } from 'node:crypto'

export const schemaOf = (directory: string): string => `t_${hash('sha1', directory).slice(0, 16)}`
