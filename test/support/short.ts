/** Whether the tests of the machine run in their short form, as in `.ci/run`: of a table every row and every column is tried, not every field. */
export const IS_SHORT = process.env['MACHINE_TESTS'] === 'short'
