/** The text of the first element of that name in an answer of XML. */
export const tagged = (text: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? ''
