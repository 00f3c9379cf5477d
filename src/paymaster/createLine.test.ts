import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLine } from './createLine.js'

test('work of one name is done in order and never at once, also after a failure', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.record({ name: fc.constantFrom('a', 'b'), fails: fc.boolean() })),
      async (scheduler, pieces) => {
        const inLine = createLine()
        const inside = new Set<string>()
        const begun: Record<string, number[]> = { a: [], b: [] }
        const results = pieces.map(({ name, fails }, place) =>
          inLine(name, async () => {
            expect(inside.has(name)).toBe(false)
            inside.add(name)
            begun[name]?.push(place)
            await scheduler.schedule(Promise.resolve())
            inside.delete(name)
            if (fails) throw new Error(`${place}`)
            return place
          }),
        )
        const settled = Promise.allSettled(results)
        await scheduler.waitFor(settled)
        for (const [place, result] of (await settled).entries())
          expect(result).toMatchObject(
            pieces[place]?.fails
              ? { status: 'rejected', reason: { message: `${place}` } }
              : { status: 'fulfilled', value: place },
          )
        for (const places of Object.values(begun))
          expect(places).toEqual([...places].sort((a, b) => a - b))
      },
    ),
  )
})

test('another name does not wait', async () => {
  const inLine = createLine()
  let release = () => {}
  const held = inLine('a', () => new Promise<void>((resolve) => (release = resolve)))
  await expect(inLine('b', async () => 'done')).resolves.toBe('done')
  release()
  await held
})
