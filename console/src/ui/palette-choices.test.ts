import { describe, expect, it } from 'vitest'
import { placeIn } from '../route.ts'
import { choicesFor } from './palette-choices.ts'

const rows = ['shop', 'help desk'].map((scenario) => ({ scenario, loaded: true, recipe: null }))
const inShop = placeIn('shop', 'traffic')
const titles = (words: string, route = inShop) => choicesFor(words, route, rows).map(({ title }) => title)

describe('the palette', () => {
  it('offers the views of the open scenario first, then the service and the scenarios', () => {
    expect(titles('')[0]).toBe('Traffic')
    expect(choicesFor('', { at: 'home' }, rows)[0]).toMatchObject({ title: 'Home', href: '#/' })
    expect(choicesFor('', { at: 'home' }, rows).map(({ title }) => title)).toContain('help desk')
  })

  it('offers a place once', () => {
    const places = choicesFor('', inShop, rows).map(({ href }) => href)
    expect(places).toEqual([...new Set(places)])
  })

  it('finds by parts of words, in any order, and offers a search of the traffic last', () => {
    expect(titles('TOK')).toEqual(['Access', 'Search the traffic for “TOK”'])
    expect(titles('desk help')[0]).toBe('help desk')
    expect(choicesFor('a&b', inShop, rows).at(-1)?.href).toBe('#/s/shop/traffic?text=a%26b')
    expect(choicesFor('nowhere', { at: 'home' }, rows)).toEqual([])
  })

  it('leads to a scenario whatever it is called', () => {
    const odd = [{ scenario: '#/x?"><img>', loaded: true, recipe: null }]
    expect(choicesFor('img', { at: 'home' }, odd)[0]?.href).toBe('#/s/%23%2Fx%3F%22%3E%3Cimg%3E/releases')
  })
})
