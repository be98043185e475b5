/** Readers of values of any shape, under the names that the console's views use. */
export {
  isRecord as isData,
  listAt,
  objectAt as dataAt,
  pretty,
  prettyText,
  textAt,
  type UnknownRecord as Data,
} from '../../../src/presentation/index.ts'
