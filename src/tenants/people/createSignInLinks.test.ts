import { expect, test } from 'vitest'
import { createSignInLinks } from './createSignInLinks.js'

const link = { userId: 'u', credentials: { apiKey: 'pk.a', authToken: 'at.a' } }

test('a link is good once, and for half an hour', () => {
  let now = 0
  const links = createSignInLinks(() => now)
  const first = links.offer(link)
  expect(links.take(`${first}x`)).toBeUndefined()
  expect(links.take(first)).toMatchObject(link)
  expect(links.take(first)).toBeUndefined()

  const second = links.offer(link)
  now = 30 * 60_000
  expect(links.take(second)).toBeUndefined()
})
