/** Questions and answers of the tiny model as tokens. */
const SPECIALS = 3
const [BOS, EOS] = [1, 2]

const encode = (text: string): number[] => [...Buffer.from(text)].map((byte) => byte + SPECIALS)
export const promptOf = (question: string): number[] => [BOS, ...encode(`user: ${question}\nassistant: `)]
export const completion = (answer: string): number[] => [...encode(answer), EOS]
