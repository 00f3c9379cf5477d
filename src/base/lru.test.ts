import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Lru } from './lru.js'

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('set' as const),
      key: fc.nat(9),
      value: fc.integer({ min: 1, max: 12 }),
    }),
    fc.record({ kind: fc.constantFrom('get' as const, 'delete' as const), key: fc.nat(9) }),
    fc.record({ kind: fc.constant('drop' as const), below: fc.nat(12) }),
  ),
)

test('keeps the entries that were used last, as far as their weight fits', () => {
  const property = fc.property(steps, fc.integer({ min: 1, max: 30 }), (all, capacity) => {
    const lru = new Lru<number, number>(capacity, (value) => value)
    /** All entries, that was used last at the end. */
    let model: [number, number][] = []
    const without = (key: number) => model.filter(([each]) => each !== key)
    for (const step of all) {
      if (step.kind === 'set') {
        lru.set(step.key, step.value)
        model = [...without(step.key), [step.key, step.value]]
        while (model.reduce((sum, [, weight]) => sum + weight, 0) > capacity) model.shift()
      } else if (step.kind === 'drop') {
        lru.drop((value) => value < step.below)
        model = model.filter(([, value]) => value >= step.below)
      } else {
        const known = model.find(([key]) => key === step.key)
        if (step.kind === 'get') {
          expect(lru.get(step.key)).toBe(known?.[1])
          if (known) model = [...without(step.key), known]
        } else {
          lru.delete(step.key)
          model = without(step.key)
        }
      }
      expect(lru.size).toBe(model.length)
    }
    for (const [key, value] of model) expect(lru.get(key)).toBe(value)
  })
  fc.assert(property)
})
