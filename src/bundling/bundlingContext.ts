import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Schema } from '../store/schema.js'

/** What bundling on one chain works with. All state is in the database. */
export type BundlingContext = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly database: Kysely<Schema>
  readonly node: NodeClient
  readonly logger: Logger
}
