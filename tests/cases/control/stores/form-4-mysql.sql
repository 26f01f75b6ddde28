/*M!999999\- enable the sandbox mode */ 

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
DROP TABLE IF EXISTS `artifact_pieces`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `artifact_pieces` (
  `artifact_id` bigint(20) NOT NULL,
  `number` bigint(20) NOT NULL,
  `content` longblob NOT NULL,
  PRIMARY KEY (`artifact_id`,`number`),
  CONSTRAINT `artifact_pieces_artifact` FOREIGN KEY (`artifact_id`) REFERENCES `artifacts` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `artifact_pieces` WRITE;
/*!40000 ALTER TABLE `artifact_pieces` DISABLE KEYS */;
INSERT INTO `artifact_pieces` VALUES
(1,0,0x6F6E65),
(2,0,0x74776F);
/*!40000 ALTER TABLE `artifact_pieces` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `artifacts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `artifacts` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `bundle_id` bigint(20) NOT NULL,
  `revision` varchar(2048) NOT NULL,
  `digest` varchar(64) NOT NULL,
  `size` bigint(20) NOT NULL,
  `fence` bigint(20) NOT NULL,
  `file` varchar(255) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `artifacts_of_bundle` (`bundle_id`,`id`),
  CONSTRAINT `artifacts_bundle` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `artifacts` WRITE;
/*!40000 ALTER TABLE `artifacts` DISABLE KEYS */;
INSERT INTO `artifacts` VALUES
(1,3,'one','7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',3,1,NULL,1795886769578858),
(2,3,'two','3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3',3,2,NULL,1795886769582672);
/*!40000 ALTER TABLE `artifacts` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `audit`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `audit` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `at` bigint(20) NOT NULL,
  `principal` longtext NOT NULL,
  `request` varchar(64) NOT NULL,
  `action` varchar(64) NOT NULL,
  `kind` varchar(64) NOT NULL,
  `name` longtext NOT NULL,
  `before_write` longtext DEFAULT NULL,
  `after_write` longtext DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `audit` WRITE;
/*!40000 ALTER TABLE `audit` DISABLE KEYS */;
INSERT INTO `audit` VALUES
(1,1795886769528958,'the command line','','create','tokens','admin',NULL,'{\"created_at\":\"2026-11-28T17:26:09.528393Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"admin\",\"role\":\"administrator\"}'),
(2,1795886769532897,'the command line','','create','tokens','viewer',NULL,'{\"created_at\":\"2026-11-28T17:26:09.532556Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"viewer\",\"role\":\"viewer\"}'),
(3,1795886769534772,'the command line','','create','tokens','owner1',NULL,'{\"created_at\":\"2026-11-28T17:26:09.534492Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner1\",\"role\":\"owner\"}'),
(4,1795886769536688,'the command line','','create','tokens','owner2',NULL,'{\"created_at\":\"2026-11-28T17:26:09.536021Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner2\",\"role\":\"owner\"}'),
(5,1795886769538299,'the command line','','create','tokens','stack1',NULL,'{\"created_at\":\"2026-11-28T17:26:09.538033Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack1\",\"role\":\"stack_owner\"}'),
(6,1795886769539790,'the command line','','create','tokens','stack2',NULL,'{\"created_at\":\"2026-11-28T17:26:09.539477Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack2\",\"role\":\"stack_owner\"}'),
(7,1795886769544671,'admin','1','create','sources','lib',NULL,'{\"name\":\"lib\",\"files\":{\"a.rego\":\"cGFja2FnZSBhCg==\"}}'),
(8,1795886769548071,'admin','2','create','secrets','key',NULL,'{\"type\":\"signing_key\"}'),
(9,1795886769576279,'admin','3','create','bundles','b',NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"lib\"}],\"signing\":{\"key\":\"key\",\"algorithm\":\"HS256\"}}'),
(10,1795886769590011,'admin','4','rollback','bundles','b','{\"id\":2,\"revision\":\"two\",\"digest\":\"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3\",\"size\":3,\"created_at\":\"2026-11-28T17:26:09.582672Z\",\"active\":true}','{\"id\":1,\"revision\":\"one\",\"digest\":\"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\",\"size\":3,\"created_at\":\"2026-11-28T17:26:09.578858Z\",\"active\":true}'),
(11,1795886769592951,'admin','5','create','secrets','hook',NULL,'{\"type\":\"password\"}'),
(12,1795886769597470,'admin','6','create','sources','hooked',NULL,'{\"name\":\"hooked\",\"webhook\":{\"provider\":\"gitlab\",\"secret\":\"hook\"}}'),
(13,1795886769601465,'admin','7','build','bundles','b',NULL,'{\"id\":1,\"state\":\"waiting\",\"requested_at\":\"2026-11-28T17:26:09.600025Z\"}'),
(14,1795886769620159,'admin','8','build','bundles','b',NULL,'{\"id\":2,\"state\":\"waiting\",\"requested_at\":\"2026-11-28T17:26:09.619286Z\"}'),
(15,1795886769647439,'admin','b','build','bundles','b',NULL,'{\"id\":3,\"state\":\"waiting\",\"requested_at\":\"2026-11-28T17:26:09.64608Z\"}'),
(16,1795886769650669,'admin','c','create','bundles','kept',NULL,'{\"name\":\"kept\"}');
/*!40000 ALTER TABLE `audit` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `build_attempts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `build_attempts` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `bundle_id` bigint(20) NOT NULL,
  `fence` bigint(20) NOT NULL,
  `revision` varbinary(1100) NOT NULL,
  `phase` varchar(64) NOT NULL,
  `status` varchar(64) NOT NULL,
  `error_message` longtext NOT NULL,
  `ended_at` bigint(20) NOT NULL,
  `sync_duration` bigint(20) DEFAULT NULL,
  `build_duration` bigint(20) DEFAULT NULL,
  `push_duration` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `build_attempts_bundle` (`bundle_id`,`id`),
  CONSTRAINT `build_attempts_bundle_id` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `build_attempts` WRITE;
/*!40000 ALTER TABLE `build_attempts` DISABLE KEYS */;
INSERT INTO `build_attempts` VALUES
(1,3,1,0x74776F,'PUSH','SUCCESS','',1795886769612447,7000,NULL,30000000);
/*!40000 ALTER TABLE `build_attempts` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `build_requests`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `build_requests` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `bundle_id` bigint(20) NOT NULL,
  `number` bigint(20) NOT NULL,
  `requested_at` bigint(20) NOT NULL,
  `attempt_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `build_requests_attempt_id` (`attempt_id`),
  KEY `build_requests_bundle` (`bundle_id`,`id`),
  CONSTRAINT `build_requests_attempt_id` FOREIGN KEY (`attempt_id`) REFERENCES `build_attempts` (`id`) ON DELETE CASCADE,
  CONSTRAINT `build_requests_bundle_id` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `build_requests` WRITE;
/*!40000 ALTER TABLE `build_requests` DISABLE KEYS */;
INSERT INTO `build_requests` VALUES
(1,3,1,1795886769600025,1),
(2,3,2,1795886769619286,NULL),
(3,3,3,1795886769646080,NULL);
/*!40000 ALTER TABLE `build_requests` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `bundle_builds`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `bundle_builds` (
  `bundle_id` bigint(20) NOT NULL,
  `changes` bigint(20) NOT NULL,
  `attempted_changes` bigint(20) NOT NULL,
  `requested` bigint(20) NOT NULL,
  `served` bigint(20) NOT NULL,
  `holder` varchar(255) DEFAULT NULL,
  `renewed_at` bigint(20) DEFAULT NULL,
  `fence` bigint(20) NOT NULL,
  `attempted_at` bigint(20) DEFAULT NULL,
  `delay` bigint(20) NOT NULL,
  `failures` bigint(20) NOT NULL,
  `input_digest` varchar(255) DEFAULT NULL,
  `revision` varbinary(1100) DEFAULT NULL,
  `succeeded_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`bundle_id`),
  CONSTRAINT `bundle_builds_bundle` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `bundle_builds` WRITE;
/*!40000 ALTER TABLE `bundle_builds` DISABLE KEYS */;
INSERT INTO `bundle_builds` VALUES
(3,1,1,3,1,NULL,NULL,1,1795886769610680,30000000,0,'d',0x74776F,1795886769610680),
(6,1,1,0,0,'kept by fixture',1795886769653580,1,1795886769653580,30000000,0,'d','',1795886769653580);
/*!40000 ALTER TABLE `bundle_builds` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `grants`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `grants` (
  `item_id` bigint(20) NOT NULL,
  `token_id` bigint(20) NOT NULL,
  `permission` varchar(64) NOT NULL,
  PRIMARY KEY (`item_id`,`token_id`,`permission`),
  KEY `grants_token` (`token_id`),
  CONSTRAINT `grants_item` FOREIGN KEY (`item_id`) REFERENCES `items` (`id`) ON DELETE CASCADE,
  CONSTRAINT `grants_token` FOREIGN KEY (`token_id`) REFERENCES `tokens` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `grants` WRITE;
/*!40000 ALTER TABLE `grants` DISABLE KEYS */;
/*!40000 ALTER TABLE `grants` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `item_references`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `item_references` (
  `user_id` bigint(20) NOT NULL,
  `used_id` bigint(20) NOT NULL,
  PRIMARY KEY (`user_id`,`used_id`),
  KEY `item_references_used_id` (`used_id`),
  CONSTRAINT `item_references_used` FOREIGN KEY (`used_id`) REFERENCES `items` (`id`),
  CONSTRAINT `item_references_user` FOREIGN KEY (`user_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `item_references` WRITE;
/*!40000 ALTER TABLE `item_references` DISABLE KEYS */;
INSERT INTO `item_references` VALUES
(3,1),
(3,2),
(5,4);
/*!40000 ALTER TABLE `item_references` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `items`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `items` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `kind` varchar(64) NOT NULL,
  `name` varbinary(1100) NOT NULL,
  `version` bigint(20) NOT NULL,
  `owner_id` bigint(20) DEFAULT NULL,
  `file` longtext DEFAULT NULL,
  `body` longtext NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `items_name` (`kind`,`name`),
  KEY `items_owner` (`owner_id`),
  KEY `items_kind` (`kind`,`id`),
  CONSTRAINT `items_owner` FOREIGN KEY (`owner_id`) REFERENCES `tokens` (`id`) ON DELETE SET NULL
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `items` WRITE;
/*!40000 ALTER TABLE `items` DISABLE KEYS */;
INSERT INTO `items` VALUES
(1,'sources',0x6C6962,1,1,NULL,'{\"name\":\"lib\",\"files\":{\"a.rego\":\"cGFja2FnZSBhCg==\"}}',1795886769543022,1795886769543025),
(2,'secrets',0x6B6579,1,1,NULL,'{\"type\":\"signing_key\"}',1795886769547168,1795886769547171),
(3,'bundles',0x62,1,1,NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"lib\"}],\"signing\":{\"key\":\"key\",\"algorithm\":\"HS256\"}}',1795886769574725,1795886769574729),
(4,'secrets',0x686F6F6B,1,1,NULL,'{\"type\":\"password\"}',1795886769592250,1795886769592253),
(5,'sources',0x686F6F6B6564,1,1,NULL,'{\"name\":\"hooked\",\"webhook\":{\"provider\":\"gitlab\",\"secret\":\"hook\"}}',1795886769595955,1795886769595958),
(6,'bundles',0x6B657074,1,1,NULL,'{\"name\":\"kept\"}',1795886769649483,1795886769649487);
/*!40000 ALTER TABLE `items` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `publication_changes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `publication_changes` (
  `id` bigint(20) NOT NULL,
  `count` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `publication_changes` WRITE;
/*!40000 ALTER TABLE `publication_changes` DISABLE KEYS */;
INSERT INTO `publication_changes` VALUES
(1,3);
/*!40000 ALTER TABLE `publication_changes` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `publications`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `publications` (
  `bundle_id` bigint(20) NOT NULL,
  `artifact_id` bigint(20) NOT NULL,
  `fence` bigint(20) NOT NULL,
  `sequence` bigint(20) NOT NULL,
  PRIMARY KEY (`bundle_id`),
  KEY `publications_artifact` (`artifact_id`),
  KEY `publications_sequence` (`sequence`),
  CONSTRAINT `publications_artifact` FOREIGN KEY (`artifact_id`) REFERENCES `artifacts` (`id`) ON DELETE CASCADE,
  CONSTRAINT `publications_bundle` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `publications` WRITE;
/*!40000 ALTER TABLE `publications` DISABLE KEYS */;
INSERT INTO `publications` VALUES
(3,1,2,3);
/*!40000 ALTER TABLE `publications` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `secret_values`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `secret_values` (
  `item_id` bigint(20) NOT NULL,
  `key_id` varchar(64) NOT NULL,
  `sealed` longblob NOT NULL,
  PRIMARY KEY (`item_id`),
  CONSTRAINT `secret_values_item` FOREIGN KEY (`item_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `secret_values` WRITE;
/*!40000 ALTER TABLE `secret_values` DISABLE KEYS */;
INSERT INTO `secret_values` VALUES
(2,'5f03f0dabdc6192c',0x7203A087FF4754D9BFEDA946CEB4FF69A3526AC75602E797725BBB8570265F7EF9D997B0D6183BC32F3FF72CD06BA0F1DB19381B2069A7DD604B446E88CCE042D0B0),
(4,'5f03f0dabdc6192c',0xC17B07E29C68F019528D44E42A285BFA9AB4BA7FBEDFBA4C858948888A441F4E33596D1F6005DD1E2EDA4DAD556498B984E0C2388AA0CBB06C7AD524ECFAF15851FF327B);
/*!40000 ALTER TABLE `secret_values` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `sessions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `sessions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `token_id` bigint(20) NOT NULL,
  `digest` varbinary(64) NOT NULL,
  `key_hash` varbinary(64) NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `digest` (`digest`),
  KEY `sessions_token` (`token_id`,`id`),
  CONSTRAINT `sessions_token_id` FOREIGN KEY (`token_id`) REFERENCES `tokens` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `sessions` WRITE;
/*!40000 ALTER TABLE `sessions` DISABLE KEYS */;
/*!40000 ALTER TABLE `sessions` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `settings`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `settings` (
  `name` varbinary(1100) NOT NULL,
  `value` longblob NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `settings` WRITE;
/*!40000 ALTER TABLE `settings` DISABLE KEYS */;
INSERT INTO `settings` VALUES
(0x736572766963655F6B657973,0x356630336630646162646336313932630A8116C72647D42F404EFB6A81C1246B8AE01B0B3DFB2733A81C844896BABBF994B530A9EAE8D95D91E972B7C588CAB7834D78F277C40839D9B0AC2A12);
/*!40000 ALTER TABLE `settings` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `solon_migrations`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solon_migrations` (
  `version` bigint(20) NOT NULL,
  `applied_at` bigint(20) NOT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `solon_migrations` WRITE;
/*!40000 ALTER TABLE `solon_migrations` DISABLE KEYS */;
INSERT INTO `solon_migrations` VALUES
(1,1795886769091720),
(3,1795886769239646),
(4,1795886769337111),
(5,1795886769479726),
(6,1795886769496732);
/*!40000 ALTER TABLE `solon_migrations` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `source_data`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `source_data` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `source_id` bigint(20) NOT NULL,
  `path` varbinary(1100) NOT NULL,
  `version` bigint(20) NOT NULL,
  `body` longtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `source_data_path` (`source_id`,`path`),
  CONSTRAINT `source_data_source` FOREIGN KEY (`source_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `source_data` WRITE;
/*!40000 ALTER TABLE `source_data` DISABLE KEYS */;
/*!40000 ALTER TABLE `source_data` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `source_triggers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `source_triggers` (
  `source_id` bigint(20) NOT NULL,
  `triggers` bigint(20) NOT NULL,
  `triggered_at` bigint(20) NOT NULL,
  `is_waiting` bigint(20) NOT NULL,
  PRIMARY KEY (`source_id`),
  CONSTRAINT `source_triggers_source` FOREIGN KEY (`source_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `source_triggers` WRITE;
/*!40000 ALTER TABLE `source_triggers` DISABLE KEYS */;
INSERT INTO `source_triggers` VALUES
(5,1,1795886769623478,1);
/*!40000 ALTER TABLE `source_triggers` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `statuses`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `statuses` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `bundle_id` bigint(20) NOT NULL,
  `revision` varbinary(1100) NOT NULL,
  `phase` varchar(64) NOT NULL,
  `status` varchar(64) NOT NULL,
  `error_message` longtext NOT NULL,
  `created_at` bigint(20) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `statuses_bundle` (`bundle_id`,`id`),
  CONSTRAINT `statuses_bundle_id` FOREIGN KEY (`bundle_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `statuses` WRITE;
/*!40000 ALTER TABLE `statuses` DISABLE KEYS */;
INSERT INTO `statuses` VALUES
(1,3,0x74776F,'PUSH','SUCCESS','',1795886769611049,1795886769611049);
/*!40000 ALTER TABLE `statuses` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `tokens`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tokens` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varbinary(1100) NOT NULL,
  `role` varchar(64) NOT NULL,
  `key_hash` varbinary(64) NOT NULL,
  `file` longtext DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `expires_at` bigint(20) DEFAULT NULL,
  `last_used_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  UNIQUE KEY `key_hash` (`key_hash`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `tokens` WRITE;
/*!40000 ALTER TABLE `tokens` DISABLE KEYS */;
INSERT INTO `tokens` VALUES
(1,0x61646D696E,'administrator',0x8D54F6FDF1DC3A77BF8B4B5D530E8186903B4995FB3473D67E2FD652E7BCBF55,NULL,1795886769528393,NULL,1795886769544870),
(2,0x766965776572,'viewer',0x716869702DB298882BDA269EF090E74574FA9318128279FFFA275893B652D0D4,NULL,1795886769532556,NULL,NULL),
(3,0x6F776E657231,'owner',0xC01E03C13852B020496CE034BF07E63944615C095DA8D1214D573CBCBA46E7BC,NULL,1795886769534492,NULL,NULL),
(4,0x6F776E657232,'owner',0xA817E369752078227101B4DAE4FAE09221C0D1D96210231B394A0F5567A9728F,NULL,1795886769536021,NULL,NULL),
(5,0x737461636B31,'stack_owner',0xAEE79268BBB325638B71ECD97DACA6285261FAE4954D5A9C16FD011A2EE752E5,NULL,1795886769538033,NULL,NULL),
(6,0x737461636B32,'stack_owner',0xC004D62D7A6FA1358EF184B12FFFCA8C48D6E4BA215FA86D3CAE433906DD0C1E,NULL,1795886769539477,NULL,NULL);
/*!40000 ALTER TABLE `tokens` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `traces`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `traces` (
  `item_id` bigint(20) NOT NULL,
  `parent` varchar(255) NOT NULL,
  PRIMARY KEY (`item_id`),
  CONSTRAINT `traces_item` FOREIGN KEY (`item_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `traces` WRITE;
/*!40000 ALTER TABLE `traces` DISABLE KEYS */;
INSERT INTO `traces` VALUES
(3,'00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
/*!40000 ALTER TABLE `traces` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `webhook_deliveries`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `webhook_deliveries` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `source_id` bigint(20) NOT NULL,
  `digest` varbinary(64) NOT NULL,
  `received_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `webhook_deliveries_digest` (`source_id`,`digest`),
  CONSTRAINT `webhook_deliveries_source` FOREIGN KEY (`source_id`) REFERENCES `items` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `webhook_deliveries` WRITE;
/*!40000 ALTER TABLE `webhook_deliveries` DISABLE KEYS */;
INSERT INTO `webhook_deliveries` VALUES
(1,5,0xB7FE48ACF1769095342DFDA9E3FA986950449E2B1A95EFB3B58211B9E91A6B98,1795886769622730),
(2,5,0x739C911DCD0130A552B9763E482B7C9A06C441CF74DE81F6083227AF279718AA,1795886769626725);
/*!40000 ALTER TABLE `webhook_deliveries` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `writer`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `writer` (
  `id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `writer` WRITE;
/*!40000 ALTER TABLE `writer` DISABLE KEYS */;
INSERT INTO `writer` VALUES
(1);
/*!40000 ALTER TABLE `writer` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

