import { pino } from 'pino'
import { noMetrics } from '../../../dist/base/metrics/metrics.js'
import { createOutboundClient } from '../../../dist/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../dist/base/outbound/networkGuard.js'
import { openDatabase } from '../../../dist/db/database.js'
import { startEventDeliverer } from '../../../dist/webhooks/deliverEvents.js'

const { connection, masterKey, lease } = JSON.parse(process.argv[2] ?? '')
const logger = pino({ level: 'silent' })
startEventDeliverer({
  database: openDatabase(connection, logger),
  masterKey: Buffer.from(masterKey, 'hex'),
  client: createOutboundClient(createNetworkGuard(loopback)),
  logger,
  metrics: noMetrics,
  lease,
})
