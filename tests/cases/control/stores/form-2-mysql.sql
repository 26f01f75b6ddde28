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
(1,3,'one','7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',3,1,NULL,1795846832892461),
(2,3,'two','3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3',3,2,NULL,1795846832907440);
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
) ENGINE=InnoDB AUTO_INCREMENT=11 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `audit` WRITE;
/*!40000 ALTER TABLE `audit` DISABLE KEYS */;
INSERT INTO `audit` VALUES
(1,1795846832813697,'the command line','','create','tokens','admin',NULL,'{\"created_at\":\"2026-11-28T06:20:32.811236Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"admin\",\"role\":\"administrator\"}'),
(2,1795846832821281,'the command line','','create','tokens','viewer',NULL,'{\"created_at\":\"2026-11-28T06:20:32.820658Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"viewer\",\"role\":\"viewer\"}'),
(3,1795846832832708,'the command line','','create','tokens','owner1',NULL,'{\"created_at\":\"2026-11-28T06:20:32.830701Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner1\",\"role\":\"owner\"}'),
(4,1795846832837921,'the command line','','create','tokens','owner2',NULL,'{\"created_at\":\"2026-11-28T06:20:32.836778Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"owner2\",\"role\":\"owner\"}'),
(5,1795846832844549,'the command line','','create','tokens','stack1',NULL,'{\"created_at\":\"2026-11-28T06:20:32.843404Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack1\",\"role\":\"stack_owner\"}'),
(6,1795846832852617,'the command line','','create','tokens','stack2',NULL,'{\"created_at\":\"2026-11-28T06:20:32.852141Z\",\"expires_at\":null,\"last_used_at\":null,\"name\":\"stack2\",\"role\":\"stack_owner\"}'),
(7,1795846832860317,'admin','1','create','sources','lib',NULL,'{\"name\":\"lib\",\"files\":{\"a.rego\":\"cGFja2FnZSBhCg==\"}}'),
(8,1795846832868417,'admin','2','create','secrets','key',NULL,'{\"type\":\"signing_key\"}'),
(9,1795846832883730,'admin','3','create','bundles','b',NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"lib\"}],\"signing\":{\"key\":\"key\",\"algorithm\":\"HS256\"}}'),
(10,1795846832923943,'admin','4','rollback','bundles','b','{\"id\":2,\"revision\":\"two\",\"digest\":\"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3\",\"size\":3,\"created_at\":\"2026-11-28T06:20:32.90744Z\",\"active\":true}','{\"id\":1,\"revision\":\"one\",\"digest\":\"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\",\"size\":3,\"created_at\":\"2026-11-28T06:20:32.892461Z\",\"active\":true}');
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `build_attempts` WRITE;
/*!40000 ALTER TABLE `build_attempts` DISABLE KEYS */;
/*!40000 ALTER TABLE `build_attempts` ENABLE KEYS */;
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
(3,2);
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
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `items` WRITE;
/*!40000 ALTER TABLE `items` DISABLE KEYS */;
INSERT INTO `items` VALUES
(1,'sources',0x6C6962,1,1,NULL,'{\"name\":\"lib\",\"files\":{\"a.rego\":\"cGFja2FnZSBhCg==\"}}',1795846832858298,1795846832858298),
(2,'secrets',0x6B6579,1,1,NULL,'{\"type\":\"signing_key\"}',1795846832866552,1795846832866552),
(3,'bundles',0x62,1,1,NULL,'{\"name\":\"b\",\"requirements\":[{\"source\":\"lib\"}],\"signing\":{\"key\":\"key\",\"algorithm\":\"HS256\"}}',1795846832878832,1795846832878832);
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
(2,'5f03f0dabdc6192c',0x3D0D06B62355E406C21887831BC6EAFD2E6E5E9FE604190031B60FDAC0DCB3AF0684E94E3065DACCCFEB6650E467C1708DDBAB4D53E545F5E07CC4EC8E8B181A3012);
/*!40000 ALTER TABLE `secret_values` ENABLE KEYS */;
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
(0x736572766963655F6B657973,0x356630336630646162646336313932630AE9C57A73464A0ECE35B465A7AAD70913858A9F8153CC406C69203F9A95294E9F03CC824AB751264EE08A8BC194076E2A650F4A6EF1092A24833096D4);
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
(1,1795846832749060),
(3,1795846832780082),
(4,1795846832793164);
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
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `statuses` WRITE;
/*!40000 ALTER TABLE `statuses` DISABLE KEYS */;
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
(1,0x61646D696E,'administrator',0x4268B659F9672C8062B1E0CF0C6EBAFECE992C28A05BE0CB8BA28CC547331B61,NULL,1795846832811236,NULL,1795846832860520),
(2,0x766965776572,'viewer',0x2B2ED5090E3A6BC8D912791B5E29F4C2F22AB917D8320125E4F9DEEB3F06A7B0,NULL,1795846832820658,NULL,NULL),
(3,0x6F776E657231,'owner',0x942AEA2896D6D665C5E8CD51853B3402FD3484E084D7F75F0041ECB0F900B97C,NULL,1795846832830701,NULL,NULL),
(4,0x6F776E657232,'owner',0xA04D1D72BFEAF64E48A2285B5D5EBA4F8EBBC80EBDFA2C373327B3D3F2211535,NULL,1795846832836778,NULL,NULL),
(5,0x737461636B31,'stack_owner',0x3062C98A0CE7564885B1F150065E15A78DD01AAEC5DF1ED8151E103F6F677763,NULL,1795846832843404,NULL,NULL),
(6,0x737461636B32,'stack_owner',0x9B01098E0FA5DAC94D42A7BE1E3A6604EFB1633A7AAAC5E7BBBAC098E2C11882,NULL,1795846832852141,NULL,NULL);
/*!40000 ALTER TABLE `tokens` ENABLE KEYS */;
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

