/** The types of what tests take from there. */
export function alone<T>(file: string, work: () => Promise<T>, tellHolder: (pid: number) => void): Promise<T>
