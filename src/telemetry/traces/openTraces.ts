import type { Logger } from 'pino'
import { type OperationTraces, traceSettings } from './operationTraces.js'

/**
 * The traces that the variables of OpenTelemetry ask for; undefined, and no code of theirs loaded, where they
 * name no endpoint. Throws ConfigError where a variable is wrong.
 */
export async function openTraces(
  environment: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<OperationTraces | undefined> {
  const settings = traceSettings(environment)
  if (settings === undefined) return undefined
  const { createTraces } = await import('./otlp/createTraces.js')
  return createTraces(settings, logger)
}
