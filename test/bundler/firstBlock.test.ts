import { expect, test } from 'vitest'
import { useFreshWorld } from '../support/world.js'

// The world has fewer blocks than the index looks back.
const chain = useFreshWorld({ args: ['--number', '1000000'] })

test('operations are included on a chain that begins at another block than 0', async () => {
  const hash = await chain().admit(chain().operation(await chain().createAccount()))
  await chain().settle()
  expect(await chain().stateOf(hash)).toBe('included')
})
