import { z } from 'zod'

/**
 * A record that has each name that was written: zod leaves `__proto__` out in silence, and a restriction that nobody
 * applies would look as if it held. It is a mistake, as every name is that `key` does not take.
 */
export function exactRecord<Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  key: Key,
  value: Value,
) {
  return z.preprocess(
    (written: z.input<z.ZodRecord<Key, Value>>, context) => {
      if (typeof written === 'object' && written !== null && Object.hasOwn(written, '__proto__'))
        context.addIssue({
          code: 'custom',
          path: ['__proto__'],
          message: 'is no name that is taken',
        })
      return written
    },
    z.record(key, value),
  )
}
