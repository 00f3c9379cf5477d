import { z } from 'zod'
import { logLevels, settingSources } from '../../../base/vocabulary.js'
import type { Contracts } from '../../contract.js'
import { time } from '../../schemas.js'

const level = z.enum(logLevels)

const setting = z.object({
  name: z.string(),
  flag: z.string(),
  variable: z.string(),
  help: z.string(),
  source: z.enum(settingSources),
  isSecret: z.boolean(),
  /** Of a URL of a node or provider only the host. Null = not set, or a secret. */
  value: z.unknown(),
})

/** How the process that answers was configured. */
export const settingContracts = {
  'GET /settings': {
    summary: 'Every setting of the process that answers, with its source and no secret',
    who: 'operator',
    answer: z.object({
      version: z.string(),
      schema: z.string(),
      startedAt: time,
      /** Its number among those that share a listener; null = it is alone on it. */
      process: z.int().nullable(),
      file: z.string().nullable(),
      logLevel: z.object({ now: level, configured: level }),
      items: z.array(setting),
    }),
  },
  'PATCH /settings/log-level': {
    summary: 'Change the level of the log of this machine until the next start',
    who: 'operator',
    body: z.strictObject({ level }),
    answer: z.object({ now: level, configured: level }),
  },
} as const satisfies Contracts
