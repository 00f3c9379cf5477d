import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { type TestDatabase, useDatabase } from './database/database.js'
import { type Ground, type NodeSettings, openGround, type TestEngine } from './world/ground.js'
import { openWorld, type World, type WorldSettings } from './world/openWorld.js'
import type { VersionChain } from './world/versionChain.js'

/** The database of a world, once it is there. */
type Postgres = () => Pick<TestDatabase, 'database'>

/** A world for all tests of a file or a `describe`, with a database of their own; gone afterwards. */
export function useWorld(
  settings: WorldSettings = {},
  postgres: Postgres = useDatabase(),
): () => World {
  let world: World | undefined
  beforeAll(async () => {
    world = await openWorld(postgres().database, settings)
  })
  afterAll(() => world?.stop())
  return () => running(world)
}

/** A world for each test, on one database; with one EntryPoint, so that tests begin soon. */
export function useFreshWorld(
  settings: WorldSettings = {},
  postgres: Postgres = useDatabase(),
): () => World {
  let world: World | undefined
  beforeEach(async () => {
    world = await openWorld(postgres().database, { versions: ['0.6'], ...settings })
  })
  afterEach(() => world?.stop())
  return () => running(world)
}

function running(world: World | undefined): World {
  if (world === undefined) throw new Error('The world does not run yet.')
  return world
}

/** A chain for all tests of a file or a `describe`; gone afterwards. */
export function useGround(settings: NodeSettings = {}): () => Ground {
  let ground: Ground | undefined
  beforeAll(async () => {
    ground = await openGround(settings)
  })
  afterAll(() => ground?.stop())
  return () => {
    if (ground === undefined) throw new Error('The chain does not run yet.')
    return ground
  }
}

/** The acts of one EntryPoint version on a chain of its own, with an engine that counts what it asks. */
export type GroundChain = VersionChain & { readonly engine: TestEngine }

/** As above, for tests of one EntryPoint version. */
export function useVersionChain(version: Version): () => GroundChain {
  const ground = useGround()
  return () => ({ ...ground().at(version), engine: ground().engine })
}
